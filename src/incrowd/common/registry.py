"""How models, methods, forms and the like are found by their names.

A family is a package: every public class in it that implements the family's protocol is a member, so adding a file adds
the class. Other packages add members by an entry point of the group `incrowd.FAMILY`, which names a class or a module.
"""

from __future__ import annotations

import inspect
import os
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from incrowd.common.records import dataclass
from incrowd.errors import IncrowdError, RecipeError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class Named(Protocol):
    """What a member of a family is: a frozen dataclass with a name, that recipes can hold."""

    name: ClassVar[str]
    """Its name in recipes and on the command line."""
    plain_name: ClassVar[str] = ""
    """What it is in plain words, shown beside its name to readers who are new to the field."""
    listed: ClassVar[bool] = True
    """Whether recipes and commands may name it; what only other parts use is not listed."""
    renamed: ClassVar[Mapping[str, str]] = {}
    """Old names of its parameters, which still work and warn; see `common.renaming`."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Let every part check its parameters' kinds before it looks at them itself."""
        super().__init_subclass__(**options)
        own = vars(cls).get("__post_init__")
        if own is not None:
            cls.__post_init__ = _checking(own)  # type: ignore[method-assign, assignment]

    def __post_init__(self) -> None:
        _checking(None)(self)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Return instances for the conformance suite: by default one without parameters, or none if it needs some."""
        if any(field.default is MISSING and field.default_factory is MISSING for field in fields(cls)):  # type: ignore[arg-type]
            return ()
        try:
            return (cls(),)
        except IncrowdError:  # it has defaults for all, and needs some of them all the same
            return ()

    @classmethod
    def recipe_keys(cls) -> Mapping[str, bool]:
        """Return the keys that a recipe may give it, and whether each is needed; by default, its parameters."""
        return {
            field.name: field.default is MISSING and field.default_factory is MISSING
            for field in fields(cls)  # type: ignore[arg-type]
        }

    @classmethod
    def from_recipe(cls, given: Mapping[str, Any], base: Path) -> Self:
        """Make one from the keys of a recipe; `base` is where relative paths in it start. By default, they are its
        parameters.
        """
        return cls(**given)

    def to_recipe(self) -> dict[str, Any]:
        """Return the keys that make it again. TOML has no null, so what is None or empty is left out."""
        from incrowd.common.plain import parameters  # NumPy takes long to import, and commands are found by this module

        return {name: value for name, value in parameters(self).items() if value is not None and value != []}


def _checking(own: Callable[[Any], None] | None) -> Callable[[Any], None]:
    def check(part: Any) -> None:
        from incrowd.common.kinds import check_parameters  # NumPy takes long to import

        check_parameters(part, own)

    return check


@dataclass(frozen=True)
class Family:
    """A kind of part: what it is called, where its members are, and the protocol that they implement."""

    name: str
    package: str
    protocol: type
    one: str
    """What one member is called in messages."""
    base: type | None = None
    """What a class should inherit from, where that is more than the protocol."""
    beside: tuple[type, ...] = ()
    """Protocols of other families that share its entry points: their members are no mistake, and not taken."""


@cache
def members(family: Family) -> Members:
    """Return the classes of a family by name, with those of other packages; sorted by name."""
    return Members(family)


class Members(Mapping[str, Any]):
    """A family's classes. To ask for one by its name imports that one: the others take half a second together."""

    def __init__(self, family: Family) -> None:
        self._family = family
        self._known: dict[str, Any] = {}
        if added_by_others(f"incrowd.{family.name}"):
            _ = self._all  # what other packages add may be at fault, or called as another part

    @cached_property
    def _all(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for cls in (*_built_in(self._family), *_plugins(self._family)):
            if found.get(cls.name, cls) is not cls:
                raise RecipeError(
                    f"two {self._family.name} are called '{cls.name}': {found[cls.name].__module__} "
                    f"and {cls.__module__}."
                )
            found[cls.name] = cls
        return dict(sorted(found.items()))

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            candidates = [] if "_all" in vars(self) else _built_in(self._family, f'"{name}"')
            self._known[name] = next((cls for cls in candidates if cls.name == name), None) or self._all[name]
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def of_class(self, name: str) -> Any:
        """Return the member whose class has this name; None if there is none."""
        candidates = chain(_built_in(self._family, f"class {name}("), _plugins(self._family))
        return next((cls for cls in candidates if cls.__name__ == name), None)


def classes_in(module: ModuleType, belongs: Callable[[type], bool]) -> Iterator[Any]:
    """Yield the public classes of a module, or of a package of the same name, that belong to a family."""
    for name, cls in vars(module).items():
        here = inspect.isclass(cls) and f"{cls.__module__}.".startswith(f"{module.__name__}.")
        if here and name == cls.__name__ and not name.startswith("_") and belongs(cls):
            yield cls


def modules_of(package: str, text: str = "") -> Iterator[ModuleType]:
    """Import and yield the modules of a package, in the order of their names; only those whose source has a text.

    Modules whose name begins with an underscore are left out, and those of packages inside of it.
    """
    for found in pkgutil.iter_modules(import_module(package).__path__):
        if not found.name.startswith("_") and (not text or _may_hold(package, found, text)):
            yield import_module(f"{package}.{found.name}")


def _may_hold(package: str, found: pkgutil.ModuleInfo, text: str) -> bool:
    """Whether a module's source has a text; one whose source cannot be read may have it."""
    if f"{package}.{found.name}" in sys.modules:
        return True
    file = Path(getattr(found.module_finder, "path", "")) / found.name
    source = file / "__init__.py" if found.ispkg else file.with_name(f"{found.name}.py")
    try:
        return text.encode() in source.read_bytes()
    except OSError:
        return True


def find_in_package(package: str, name: str) -> Any:
    """Return what one of a package's modules defines under a public name."""
    if not name.startswith("_") and find_spec(f"{package}.{name}") is None:  # a module is imported, not looked for
        for module in modules_of(package, name):
            found = vars(module).get(name)
            if found is not None and (getattr(found, "__module__", None) == module.__name__):
                return found
    raise AttributeError(f"module '{package}' has no attribute '{name}'")


def names_in_package(package: str) -> list[str]:
    """Return the public names that a package's modules define."""
    found = {
        name
        for module in modules_of(package)
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    }
    return sorted(found)


def _belongs(family: Family, cls: type) -> bool:
    """Whether a class is a member: it implements the protocol, and has a name of its own."""
    named: Any = cls
    return family.protocol in cls.__mro__[1:] and isinstance(vars(cls).get("name"), str) and named.listed


def added_by_others(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group, as all installed packages have them."""
    return _entries(tuple(sys.path)).get(group, ())


@cache
def _entries(path: tuple[str, ...]) -> dict[str, tuple[EntryPoint, ...]]:
    """Read what every installed package says of itself: that takes some 40 ms, and each kind of part asks."""
    if not any(map(_may_add, path)):
        return {}
    from importlib.metadata import entry_points

    found = entry_points()
    return {group: tuple(found.select(group=group)) for group in found.groups if group.startswith("incrowd.")}


def _may_add(folder: str) -> bool:
    """Whether a package that is installed in a folder may have entry points of ours; a look at files alone tells."""
    try:
        with os.scandir(folder or ".") as entries:
            names = [entry.name for entry in entries]
    except NotADirectoryError:  # packages in one file
        return True
    except OSError:
        return False
    for name in names:
        if name.endswith((".dist-info", ".egg-info")) or name == "EGG-INFO":
            try:
                text = Path(folder, name, "entry_points.txt").read_bytes()
            except OSError:  # it has none
                continue
            if b"[incrowd." in text:
                return True
    return False


def _built_in(family: Family, text: str = "") -> Iterator[Any]:
    for module in modules_of(family.package, text):
        yield from classes_in(module, lambda cls: _belongs(family, cls))


def _plugins(family: Family) -> Iterator[Any]:
    for entry in added_by_others(f"incrowd.{family.name}"):
        loaded = load_entry(entry)
        if isinstance(loaded, ModuleType):
            yield from classes_in(loaded, lambda cls: _belongs(family, cls))
        elif inspect.isclass(loaded) and _belongs(family, loaded):
            yield loaded
        elif not inspect.isclass(loaded) or not any(protocol in loaded.__mro__ for protocol in family.beside):
            _refuse_entry(family, entry, loaded)


def _refuse_entry(family: Family, entry: EntryPoint, loaded: Any) -> None:
    implements = inspect.isclass(loaded) and family.protocol in loaded.__mro__
    protocol = f"{family.protocol.__module__}.{family.protocol.__name__}"
    raise RecipeError(
        f"the entry point '{entry.name}' of {entry.group} is no {family.one}: {entry.value.replace(':', '.')} "
        + ("has no name of its own, or is not listed." if implements else f"does not implement {protocol}.")
    )


def load_entry(entry: EntryPoint) -> Any:
    """Return the module or object that an entry point names; if there is none, say which package is at fault."""
    try:
        return entry.load()
    except Exception as error:
        raise RecipeError(
            f"the entry point '{entry.name}' of {entry.group} cannot be loaded: {entry.value} "
            f"({type(error).__name__}: {error}).  Hint: repair or uninstall {_distribution(entry)}."
        ) from error


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "its package"

"""Old names of parameters keep working for a version, with a warning."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Made = TypeVar("Made", bound=type)


def renamed(**new_names: str) -> Callable[[Made], Made]:
    """Let a dataclass take parameters by their old names, and read them as attributes: `renamed(old="new")`.

    >>> from dataclasses import dataclass
    >>> @renamed(least="min_size")
    ... @dataclass(frozen=True)
    ... class Buckets:
    ...     min_size: int = 1
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     print(Buckets(least=3), caught[0].message)
    Buckets(min_size=3) Buckets: 'least' is now called 'min_size'; the old name will go with the next version.
    """

    def wrap(cls: Made) -> Made:
        made: Any = cls
        original = made.__init__

        @functools.wraps(original)
        def init(self: Any, *args: Any, **given: Any) -> None:
            original(self, *args, **with_new_names(cls.__name__, given, new_names, stacklevel=2))

        made.__init__ = init
        made.renamed = dict(new_names)
        for old, new in new_names.items():
            setattr(made, old, property(_reader(cls.__name__, old, new)))
        return cls

    return wrap


def with_new_names(
    owner: str, given: Mapping[str, Any], new_names: Mapping[str, str], *, stacklevel: int = 2
) -> dict[str, Any]:
    """Return the given parameters by their new names; warn where an old one was used."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name in new_names:
            _warn(owner, name, new_names[name], stacklevel + 1)
        if new_names.get(name, name) in found:
            raise TypeError(f"{owner}: '{name}' is given twice, by its old and its new name.")
        found[new_names.get(name, name)] = value
    return found


def _reader(owner: str, old: str, new: str) -> Callable[[Any], Any]:
    def read(self: Any) -> Any:
        _warn(owner, old, new, 2)
        return getattr(self, new)

    return read


def _warn(owner: str, old: str, new: str, stacklevel: int) -> None:
    message = f"{owner}: '{old}' is now called '{new}'; the old name will go with the next version."
    warnings.warn(message, FutureWarning, stacklevel=stacklevel + 1)

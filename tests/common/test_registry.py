"""How parts are found: families are walked, plugins are loaded, and what cannot be a member is refused by name."""

from __future__ import annotations

import sys
import zipfile
from dataclasses import dataclass, field, replace
from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Protocol

import pytest

import incrowd as ic
from incrowd.common import registry
from incrowd.common.registry import (
    Family,
    Named,
    classes_in,
    find_in_package,
    load_entry,
    modules_of,
    names_in_package,
)
from incrowd.core.families import FAMILIES, make_registered, published_forms, registered, require_member
from incrowd.errors import HierarchyError, RecipeError


class Animal(Named, Protocol):
    """What every animal of these tests can do."""

    legs: ClassVar[int] = 4


CAT = """
from dataclasses import dataclass
from tests.common.test_registry import Animal

@dataclass(frozen=True)
class Cat(Animal):
    name = "cat"

class _Hidden(Cat):
    name = "hidden"

class Heir(Cat):
    pass

@dataclass(frozen=True)
class Ghost(Animal):
    name = "ghost"
    listed = False

class Stone:
    name = "stone"

Alias = Cat
"""


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Family:
    """A package with a family in it."""
    package = tmp_path / "zoo"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "inner" / "__init__.py").write_text("")
    (package / "inner" / "deep.py").write_text(CAT.replace('"cat"', '"deep cat"'))
    (package / "cats.py").write_text(CAT)
    (package / "dogs.py").write_text(
        "from zoo.cats import Cat\n\nclass Dog(Cat):\n    name = 'dog'\n\ndef bark() -> str:\n    return 'woof'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    return Family("animals", "zoo", Animal, "animal")


@pytest.fixture(autouse=True)
def _forget() -> Any:
    """What a test finds is forgotten, so that the next one looks again."""
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "zoo"]:
        del sys.modules[name]


def entries(monkeypatch: pytest.MonkeyPatch, *values: str, group: str = "incrowd.animals") -> None:
    """Let these be the entry points of other packages."""
    found = [EntryPoint(f"entry {place}", value, group) for place, value in enumerate(values)]
    monkeypatch.setattr(registry, "added_by_others", lambda group: [one for one in found if one.group == group])


def module(monkeypatch: pytest.MonkeyPatch, name: str, code: str) -> ModuleType:
    """Make a module that can be imported."""
    made = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, made)
    exec(code, made.__dict__)
    return made


def members(family: Family) -> Any:
    """Look for a family's members again, whoever looked before."""
    return registry.members.__wrapped__(family)


# --- walking ---


def test_a_family_is_the_public_classes_with_a_name_of_their_own(zoo: Family) -> None:
    found = members(zoo)
    assert list(found) == ["cat", "dog"]
    assert [cls.__name__ for cls in found.values()] == ["Cat", "Dog"]


def test_a_class_without_a_name_of_its_own_is_no_member(zoo: Family) -> None:
    cats = sys.modules.get("zoo.cats") or next(one for one in modules_of("zoo") if one.__name__ == "zoo.cats")
    assert cats.Heir.name == "cat"
    assert members(zoo)["cat"] is cats.Cat


def test_what_is_not_listed_is_no_member(zoo: Family) -> None:
    assert "ghost" not in members(zoo)
    assert "as written" not in registered("hierarchies")
    assert "another tool" not in registered("methods")


def test_a_class_that_is_imported_is_found_where_it_is_defined(zoo: Family) -> None:
    dogs = next(one for one in modules_of("zoo") if one.__name__ == "zoo.dogs")
    assert [cls.__name__ for cls in classes_in(dogs, lambda cls: True)] == ["Dog"]


def test_a_module_whose_name_begins_like_another_s_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    longer = module(monkeypatch, "catalogue", CAT)
    short = module(monkeypatch, "cat", "")
    vars(short)["Cat"] = longer.__dict__["Cat"]
    assert list(classes_in(short, lambda cls: True)) == []


def test_modules_of_packages_inside_are_not_walked(zoo: Family) -> None:
    assert [one.__name__ for one in modules_of("zoo")] == ["zoo.cats", "zoo.dogs", "zoo.inner"]
    assert "deep cat" not in members(zoo)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_members_that_implement_its_protocol(family: str) -> None:
    found = registered(family)
    assert found
    assert list(found) == sorted(found)
    for name, cls in found.items():
        assert cls.name == name
        assert cls.listed
        assert FAMILIES[family].protocol in cls.__mro__
        assert cls.__module__.startswith(f"{FAMILIES[family].package}.")
        assert not cls.__name__.startswith("_")
        assert cls.__doc__


def test_every_form_that_is_asked_for_can_be_read_back() -> None:
    assert set(registered("forms")) <= set(published_forms())


# --- names ---


def test_what_a_package_s_modules_define_is_found_by_name(zoo: Family) -> None:
    assert find_in_package("zoo", "Dog").name == "dog"
    assert find_in_package("zoo", "bark")() == "woof"
    assert names_in_package("zoo") == ["Alias", "Cat", "Dog", "Ghost", "Heir", "Stone", "bark"]


@pytest.mark.parametrize("name", ["Fish", "_Hidden", "cats", "dataclass", "Animal"])
def test_what_none_of_them_defines_is_no_attribute(zoo: Family, name: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'zoo' has no attribute '{name}'"):
        find_in_package("zoo", name)


# --- plugins ---


def test_an_entry_point_names_a_class_or_a_module(zoo: Family, monkeypatch: pytest.MonkeyPatch) -> None:
    module(monkeypatch, "farm", CAT.replace('"cat"', '"farm cat"'))
    module(monkeypatch, "wild", CAT.replace('"cat"', '"wild cat"'))
    entries(monkeypatch, "farm", "wild:Cat")
    assert list(members(zoo)) == ["cat", "dog", "farm cat", "wild cat"]


def test_the_same_class_twice_is_one_member(zoo: Family, monkeypatch: pytest.MonkeyPatch) -> None:
    module(monkeypatch, "farm", CAT.replace('"cat"', '"farm cat"'))
    entries(monkeypatch, "farm", "farm:Cat", "farm:Alias")
    assert list(members(zoo)) == ["cat", "dog", "farm cat"]


def test_two_of_one_name_are_refused(zoo: Family, monkeypatch: pytest.MonkeyPatch) -> None:
    module(monkeypatch, "farm", CAT)
    entries(monkeypatch, "farm")
    with pytest.raises(RecipeError, match=r"^two animals are called 'cat': zoo\.cats and farm\.$"):
        members(zoo)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("farm:Stone", r"^the entry point 'entry 0' of incrowd\.animals is no animal: farm\.Stone does not implement "),
        ("farm:bark", r"farm\.bark does not implement tests\.common\.test_registry\.Animal\.$"),
        ("farm:Heir", r"farm\.Heir has no name of its own, or is not listed\.$"),
        ("farm:Ghost", r"farm\.Ghost has no name of its own, or is not listed\.$"),
        (
            "farm:Unicorn",
            r"cannot be loaded: farm:Unicorn \(AttributeError: .*\)\.  Hint: repair or uninstall its pack",
        ),
        ("nowhere_at_all", r"of incrowd\.animals cannot be loaded: nowhere_at_all \(ModuleNotFoundError: No module"),
    ],
)
def test_a_broken_entry_point_is_refused(
    zoo: Family, monkeypatch: pytest.MonkeyPatch, entry: str, problem: str
) -> None:
    module(monkeypatch, "farm", CAT + "\ndef bark() -> None: ...\n")
    entries(monkeypatch, entry)
    with pytest.raises(RecipeError, match=problem):
        members(zoo)


def test_members_of_a_family_that_shares_the_entry_points_are_no_mistake(
    zoo: Family, monkeypatch: pytest.MonkeyPatch
) -> None:
    module(monkeypatch, "farm", CAT)
    entries(monkeypatch, "farm:Stone")
    assert list(members(replace(zoo, beside=(sys.modules["farm"].Stone,)))) == ["cat", "dog"]


def test_an_entry_point_tells_whose_it_is() -> None:
    with pytest.raises(RecipeError, match=r"the entry point 'mine' of incrowd\.models cannot be loaded: no_such_thing"):
        load_entry(EntryPoint("mine", "no_such_thing", "incrowd.models"))


# --- recipes ---


@dataclass(frozen=True)
class Lamp(Named):
    """A part with parameters of every kind."""

    watts: int
    colours: tuple[str, ...] = ()
    place: str | None = None
    tags: dict[str, int] = field(default_factory=dict, hash=False)
    name: ClassVar[str] = "lamp"


@dataclass(frozen=True)
class Candle(Named):
    """A part that has a default for everything, and needs one of two all the same."""

    wax: int = 0
    name: ClassVar[str] = "candle"

    def __post_init__(self) -> None:
        if not self.wax:
            raise HierarchyError("a candle needs wax.")


def test_the_keys_of_a_recipe_are_the_parameters() -> None:
    assert Lamp.recipe_keys() == {"watts": True, "colours": False, "place": False, "tags": False}
    assert Lamp(5, ("red",)).to_recipe() == {"watts": 5, "colours": ["red"], "tags": {}}
    assert Lamp.from_recipe({"watts": 5}, Path()) == Lamp(5)


def test_examples_are_made_without_parameters_where_that_can_be_done() -> None:
    assert Lamp.examples() == ()
    assert Candle.examples() == ()
    assert ic.Flat.examples() == (ic.Flat(),)
    for family in FAMILIES:
        for cls in registered(family).values():
            assert all(type(example) is cls for example in cls.examples())


@pytest.mark.parametrize(
    ("family", "described", "problem"),
    [
        ("models", 5, r"^\[model\] is a table, not int\.$"),
        ("models", {"k": 5}, "^there is no model without a name"),
        ("models", {"name": 5}, "^there is no model called 5"),
        ("models", "k-anonymty", "did you mean 'k-anonymity'"),
        ("models", "k-anonymity", "^model 'k-anonymity' needs k"),
        ("models", {"name": "k-anonymity", "k": 5, "l": 2}, "^model 'k-anonymity' has no 'l'"),
        ("methods", {"name": "mondrian", "cuts": "odd"}, "cuts"),
        ("hierarchies", {"name": "flat"}, "^there is no hierarchy called|has no"),
    ],
)
def test_what_a_recipe_cannot_mean_is_refused(family: str, described: Any, problem: str) -> None:
    key = "kind" if family == "hierarchies" else "name"
    with pytest.raises(RecipeError, match=problem):
        make_registered(family, described if family != "hierarchies" else {"kind": "flt", **described}, key=key)


def test_an_object_that_does_not_inherit_is_refused_with_what_to_do() -> None:
    with pytest.raises(RecipeError) as refused:
        require_member("models", object())
    assert str(refused.value) == (
        "object is no model.  Hint: let its class inherit from incrowd.core.model.Model, which declares what one can "
        "do, with defaults."
    )
    require_member("models", ic.KAnonymity(2))


def test_what_packages_say_of_themselves_is_read_once_and_only_where_one_may_add_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "later-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: later\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[incrowd.animals]\nmine = later\n", encoding="utf-8")
    asked: list[int] = []
    found = metadata.entry_points
    monkeypatch.setattr(metadata, "entry_points", lambda: asked.append(1) or found())
    registry._entries.cache_clear()
    assert not registry.added_by_others("incrowd.animals")
    assert asked == []
    monkeypatch.syspath_prepend(tmp_path)
    assert [one.value for one in registry.added_by_others("incrowd.animals")] == ["later"]
    assert not registry.added_by_others("incrowd.plants")
    assert len(asked) == 1


def test_a_package_is_found_however_it_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `importlib.metadata` finds it: by a folder beside it, as an egg, in one file, or in the working directory."""
    said = "[incrowd.animals]\nmine = later\n"
    beside = tmp_path / "beside" / "later-1.0.egg-info"
    egg = tmp_path / "egg" / "later-1.0.egg" / "EGG-INFO"
    for about in (beside, egg):
        about.mkdir(parents=True)
        (about / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: later\nVersion: 1.0\n", encoding="utf-8")
        (about / "entry_points.txt").write_text(said, encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "later.zip", "w") as packed:
        packed.writestr("later-1.0.dist-info/entry_points.txt", said)
        packed.writestr("later-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: later\nVersion: 1.0\n")
    whole = sys.path[:]
    monkeypatch.chdir(tmp_path / "beside")
    for place in (tmp_path / "beside", egg.parent, tmp_path / "later.zip", ""):
        monkeypatch.setattr(sys, "path", [str(place), *whole])
        assert [one.value for one in registry.added_by_others("incrowd.animals")] == ["later"], place
    monkeypatch.setattr(sys, "path", [str(tmp_path / "nowhere"), *whole])
    assert not registry.added_by_others("incrowd.animals")

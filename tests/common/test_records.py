"""Dataclasses made at their first use are those of the standard library, whatever is asked for first."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import json
import pickle
import re
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar, get_type_hints

import pytest

from incrowd.common import records
from incrowd.common.records import dataclass


@dataclass(frozen=True)
class Person:
    """For pickles, which name the module of a class."""

    name: str
    age: int = 40
    marks: list[int] = field(default_factory=list)


def is_made(cls: type) -> bool:
    return not any(isinstance(one, records._Later) for one in vars(cls).values())


def point(**asked: Any) -> type:
    @dataclass(**asked)
    class Point:
        """A point."""

        x: int
        y: int = 2
        colours: list[str] = field(default_factory=list)
        scale: ClassVar[int] = 3

    return Point


ASKED: list[dict[str, bool]] = [
    {},
    {"frozen": True},
    {"eq": False},
    {"frozen": True, "eq": False},
    {"frozen": True, "repr": False},
    {"frozen": True, "eq": False, "repr": False},
]


def test_nothing_is_made_where_a_class_is_defined() -> None:
    assert not is_made(point())
    assert not is_made(point(frozen=True))


FIRST_USES: dict[str, Callable[[Any], object]] = {
    "an instance": lambda cls: vars(cls(1)),
    "fields": lambda cls: [(one.name, one.type) for one in dataclasses.fields(cls)],
    "is_dataclass": dataclasses.is_dataclass,
    "signature": lambda cls: str(inspect.signature(cls)),
    "repr": lambda cls: repr(cls(1)).partition(" at ")[0],
    "equal": lambda cls: cls(1) == cls(1, 2),
    "unequal": lambda cls: cls(1) == cls(1, 3),
    "replace": lambda cls: dataclasses.replace(cls(1), y=7).y,
    "asdict": lambda cls: dataclasses.asdict(cls(1)),
    "a copy": lambda cls: copy.copy(cls(1)).x,
    "the order of a match": lambda cls: cls.__match_args__,
    "parameters": lambda cls: repr(cls.__dataclass_params__),
    "hash of an instance": lambda cls: isinstance(hash(cls(1, 2, ())), int),
    "whether it has a hash": lambda cls: cls.__hash__ is None,
    "an attribute is set": lambda cls: setattr(cls(1), "x", 5),
    "a new attribute is set": lambda cls: setattr(cls(1), "z", 5),
    "an attribute is deleted": lambda cls: delattr(cls(1), "x"),
    "an instance without init": lambda cls: setattr(object.__new__(cls), "x", 5),
    "the wrong arguments": lambda cls: cls(),
    "type hints": lambda cls: sorted(get_type_hints(cls)),
    "a default": lambda cls: cls.y,
    "the text": lambda cls: cls.__doc__,
    "a class of its own": lambda cls: type("Heir", (cls,), {})(3).x,
    "names of all": lambda cls: dir(cls(1)),
}


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_a_first_use_finds_what_the_standard_library_makes(
    asked: dict[str, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(use: Callable[[Any], object]) -> object:
        try:
            return use(point(**asked))
        except (TypeError, AttributeError) as error:
            return type(error), str(error)

    later = {name: found(use) for name, use in FIRST_USES.items()}
    monkeypatch.setattr(records, "_CAN_WAIT", False)
    assert is_made(point(**asked))
    assert later == {name: found(use) for name, use in FIRST_USES.items()}


def test_what_a_class_has_of_its_own_stays() -> None:
    @dataclass(frozen=True)
    class Own:
        """With methods of its own."""

        x: int

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

        def __post_init__(self) -> None:
            object.__setattr__(self, "x", self.x + 1)

    one = Own(1)
    assert (repr(one), one == 3, hash(one), one.x) == ("own", True, 7, 2)


def test_the_hash_follows_the_rules_of_the_standard_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(asked: dict[str, bool], own: dict[str, Any]) -> object:
        cls: Any = type("Some", (), {"__annotations__": {"x": int}, "__doc__": "Some.", **own})
        one = dataclass(**asked)(cls)(3)
        try:
            return hash(one) == hash((3,)), hash(one) == 5
        except TypeError:
            return None

    owns: list[dict[str, Any]] = [
        {},
        {"__eq__": lambda self, other: True},
        {"__hash__": lambda self: 5},
        {"__hash__": None},
        {"__eq__": lambda self, other: True, "__hash__": lambda self: 5},
        {"__eq__": lambda self, other: True, "__hash__": None},
    ]
    cases = [(asked, own) for asked in ASKED for own in owns]
    later = [made(*case) for case in cases]
    monkeypatch.setattr(records, "_CAN_WAIT", False)
    assert later == [made(*case) for case in cases]
    assert {None, (True, False), (False, True), (False, False)} == set(later)


def test_a_class_based_on_one_that_is_not_made() -> None:
    base = point(frozen=True)

    @dataclass(frozen=True)
    class Heir(base):  # type: ignore[valid-type, misc]
        """With one field more."""

        z: int = 9

    assert [one.name for one in dataclasses.fields(Heir)] == ["x", "y", "colours", "z"]
    assert is_made(base)
    assert Heir(1) == Heir(1, 2, [], 9)
    assert Heir(1) != base(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Heir(1).z = 3  # type: ignore[misc]


def test_a_class_that_sets_its_attributes_itself_is_frozen_all_the_same() -> None:
    base = point(frozen=True)

    class Heir(base):  # type: ignore[valid-type, misc]
        def __init__(self) -> None:
            self.x = 3

    with pytest.raises(dataclasses.FrozenInstanceError):
        Heir()


def test_an_abstract_class_stays_abstract() -> None:
    @dataclass(frozen=True)
    class Shape(ABC):
        """A shape."""

        name: str

        @abstractmethod
        def area(self) -> float: ...

    @dataclass(frozen=True)
    class Square(Shape):
        """A square."""

        side: float

        def area(self) -> float:
            return self.side**2

    with pytest.raises(TypeError, match="abstract"):
        Shape("nothing")  # type: ignore[abstract]
    assert Square("one", 2).area() == 4


def test_an_instance_read_from_a_pickle_in_a_new_process_has_all_methods() -> None:
    text = pickle.dumps([Person("Ada"), Person("Ada"), Person("Bo", 3)])
    code = """
import pickle, sys
from tests.common.test_records import Person, is_made
one, same, other = pickle.loads(sys.stdin.buffer.read())
assert not is_made(Person)
assert one == same != other
assert repr(other) == "Person(name='Bo', age=3, marks=[])"
try:
    one.age = 5
except AttributeError:
    print("all there")
"""
    done = subprocess.run([sys.executable, "-c", code], input=text, capture_output=True, check=True)
    assert done.stdout.decode().strip() == "all there"


def test_a_mistake_in_the_fields_is_told_at_every_use() -> None:
    @dataclass(frozen=True)
    class Wrong:
        """A list for all."""

        x: list[int] = []  # noqa: RUF012

    for _ in range(2):
        with pytest.raises(ValueError, match="mutable default"):
            Wrong()
    with pytest.raises(ValueError, match="mutable default"):
        dataclasses.fields(Wrong)


def test_what_changes_the_class_itself_is_made_at_once() -> None:
    @dataclass(slots=True)
    class Slotted:
        """With places of its own."""

        x: int

    @dataclass
    class Untold:
        x: int

    @dataclass
    class Defaulted:
        """Its class has the default, not the field."""

        x: int = field(default=3, repr=False)

    assert is_made(Slotted)
    assert is_made(Untold)
    assert is_made(Defaulted)
    assert not hasattr(Slotted(1), "__dict__")
    assert Untold.__doc__ == "Untold(x: 'int')"
    assert Defaulted.x == 3


def test_threads_that_ask_at_once_all_find_the_whole_class(monkeypatch: pytest.MonkeyPatch) -> None:
    cls: Any = point(frozen=True)
    halfway, on = threading.Event(), threading.Event()
    really: Any = dataclasses.dataclass

    def slowly(asked: type, **others: Any) -> Any:
        done = really(asked, **others)
        if asked is cls:
            halfway.set()
            assert on.wait(60)
        return done

    monkeypatch.setattr(dataclasses, "dataclass", slowly)
    uses: list[Callable[[], object]] = [
        lambda: cls(1).y,
        lambda: cls(1) == cls(1),
        lambda: hash(cls(1, 2, ())) == hash((1, 2, ())),
        lambda: repr(cls(1)).count("x=1"),
    ]
    found: list[Any] = []
    threads = [threading.Thread(target=lambda use=use: found.append(use())) for use in uses]
    threads[0].start()
    assert halfway.wait(60)
    for thread in threads[1:]:
        thread.start()
    assert found == []  # they wait for the other half
    on.set()
    for thread in threads:
        thread.join(60)
    assert sorted(found) == [1, 1, 1, 2]


DESCRIBE = """
import dataclasses, importlib, inspect, json, pkgutil, sys
from incrowd.common import records
records._CAN_WAIT = sys.argv[1] == "later"
import incrowd

def code_of(method):
    code = getattr(method, "__code__", None)
    if code is None:
        return None
    told = [method.__qualname__, code.co_name, code.co_varnames, code.co_names, code.co_code.hex()]
    return [*told, repr(method.__defaults__)]

found, waiting = {}, 0
for info in pkgutil.walk_packages(incrowd.__path__, "incrowd."):
    if info.name.endswith("__main__"):
        continue
    try:
        module = importlib.import_module(info.name)
    except ImportError:
        continue
    for name, one in list(vars(module).items()):
        if not inspect.isclass(one) or one.__module__ != info.name:
            continue
        waiting += any(isinstance(value, getattr(records, "_Later")) for value in vars(one).values())
        if not dataclasses.is_dataclass(one):
            continue
        own = vars(one)
        found[f"{info.name}.{name}"] = [
            sorted(own),
            [[f.name, str(f.type), f.init, f.repr, f.compare, f.hash, f.kw_only, f._field_type.name]
             for f in own.get("__dataclass_fields__", {}).values()],
            repr(own.get("__dataclass_params__")), own.get("__match_args__"), one.__doc__, str(inspect.signature(one)),
            own.get("__hash__", 0) is None,
            {key: code_of(value) for key, value in sorted(own.items()) if key.startswith("__")},
        ]
print(json.dumps([waiting, found], default=lambda one: type(one).__name__))
"""


def test_every_dataclass_of_incrowd_is_what_the_standard_library_makes() -> None:
    def described(how: str) -> tuple[int, dict[str, Any]]:
        done = subprocess.run([sys.executable, "-c", DESCRIBE, how], capture_output=True, text=True, check=True)
        waiting, found = json.loads(re.sub(r"at 0x[0-9a-f]+", "somewhere", done.stdout))
        return waiting, found

    waiting, later = described("later")
    none, at_once = described("at once")
    assert (waiting > 300, none) == (True, 0)
    assert later.keys() == at_once.keys()
    assert {name: one for name, one in later.items() if one != at_once[name]} == {}

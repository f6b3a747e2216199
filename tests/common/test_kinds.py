"""Every parameter of every part: what is no good is refused in words, when the part is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal

import numpy as np
import pytest

from incrowd.common.registry import Named
from incrowd.core.families import FAMILIES, make_registered
from incrowd.errors import IncrowdError, RecipeError
from tests.odd_values import IN_PYTHON, IN_RECIPES, good_parts

PARTS = [
    pytest.param(family, kind, given, id=f"{family} {kind.name}")
    for family in FAMILIES
    if family not in ("engines", "sources")
    for kind, given in good_parts(family)
]


@pytest.fixture(scope="module")
def nowhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A folder in which there is nothing: some odd values would be looked up as names of files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("nowhere"))
        yield


@pytest.mark.usefixtures("nowhere")
@pytest.mark.parametrize(("family", "kind", "given"), PARTS)
def test_an_odd_value_in_a_recipe_is_taken_or_refused(family: str, kind: Any, given: Mapping[str, Any]) -> None:
    key = "kind" if family == "hierarchies" else "name"
    for name in kind.recipe_keys():
        for odd in IN_RECIPES:
            try:
                made = make_registered(family, {key: kind.name, **given, name: odd}, key=key)
            except IncrowdError as error:
                refused = str(error)
            else:
                refused = ""
                assert str(made)
                assert make_registered(family, {key: kind.name, **made.to_recipe()}, key=key) == made
            assert "wrong kind" not in refused, (name, odd)  # words that Python chose


@pytest.mark.usefixtures("nowhere")
@pytest.mark.parametrize(("family", "kind", "given"), PARTS)
def test_an_odd_value_in_a_program_is_taken_or_refused(family: str, kind: Any, given: Mapping[str, Any]) -> None:
    key = "kind" if family == "hierarchies" else "name"
    good = make_registered(family, {key: kind.name, **given}, key=key)
    for parameter in fields(kind):
        for odd in (*IN_RECIPES, *IN_PYTHON):
            try:
                made = replace(good, **{parameter.name: odd})
            except IncrowdError:
                continue
            assert repr(made)
            made.to_recipe()


@dataclass(frozen=True)
class Part(Named):
    """A part of every kind of parameter."""

    number: float = 1.0
    whole: int | None = None
    word: Literal["a", "b"] = "a"
    names: tuple[str, ...] = ()
    pairs: tuple[tuple[int, ...], ...] = ()
    levels: Mapping[str, int] = field(default_factory=dict)
    really: bool = False
    name: ClassVar[str] = "part"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"number": "1"}, "part: number is a number, not '1'."),
        ({"number": True}, "part: number is a number, not True."),
        ({"number": 10**400}, "part: number is a number, not 1000"),
        ({"whole": 1.0}, "part: whole is a whole number of at most 62 bits, not 1.0."),
        ({"whole": 2**63}, "part: whole is a whole number of at most 62 bits, not 9223372036854775808."),
        ({"word": "c"}, 'part: word is "a" or "b", not \'c\'.'),
        ({"word": ["a"]}, 'part: word is "a" or "b", not [\'a\'].'),
        ({"names": "age"}, "part: names is a list, each of which is a text, not 'age'."),
        ({"names": ["age", 1]}, "part: names is a list, each of which is a text, not ['age', 1]."),
        ({"pairs": [1]}, "part: pairs is a list, each of which is a list, each of which is a whole number"),
        ({"levels": {"age": "x"}}, "part: levels is a table of names, each with a whole number"),
        ({"levels": [1]}, "part: levels is a table of names, each with a whole number"),
        ({"really": 1}, "part: really is true or false, not 1."),
    ],
)
def test_what_is_said_of_another_kind(given: dict[str, Any], told: str) -> None:
    with pytest.raises(RecipeError) as refused:
        Part(**given)
    assert str(refused.value).startswith(told)


def test_a_message_is_never_longer_than_a_few_lines() -> None:
    with pytest.raises(RecipeError) as refused:
        Part(number="x" * 10_000)  # type: ignore[arg-type]
    assert len(str(refused.value)) < 200


def test_lists_of_any_sort_become_tuples() -> None:
    made = Part(names=["age"], pairs=np.array([[1, 2], [3, 4]]), number=np.float64(2))  # type: ignore[arg-type]
    assert (made.names, made.pairs, made.number) == (("age",), ((1, 2), (3, 4)), 2)


def test_a_part_s_own_words_come_first() -> None:
    with pytest.raises(RecipeError, match="k is a whole number of at least 1, not 'x'"):
        make_registered("models", {"name": "k-anonymity", "k": "x"})

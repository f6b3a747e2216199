"""Rules: whom they speak of, which value they give them, and which of them contradict each other."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import QueryError, RecipeError, SchemaError
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.tree import Tree
from incrowd.models.knowledge import Rule, as_rules
from incrowd.models.knowledge.rules import masks_by_value


def trees() -> dict[str, Tree]:
    return {
        "age": ic.Flat().build("age", pl.Series([20, 40, 60, None]))[0],
        "sex": ic.Flat().build("sex", pl.Series(["F", "M"]))[0],
    }


ILL = Exact().build("ill", pl.Series(["cold", "flu", None]))[0]
COLUMNS = ("age", "sex")


@pytest.mark.parametrize(
    ("when", "masks"),
    [
        ({"sex": "M"}, {"sex": [0, 0, 1]}),
        ({"age": (40, None)}, {"age": [0, 0, 1, 1]}),  # missing is in no range
        ({"age": {"from": 40}}, {"age": [0, 0, 1, 1]}),
        ({"age": {"to": 40}}, {"age": [0, 1, 1, 0]}),
        ({"age": {"from": 30, "to": 50}, "sex": ["F", "M"]}, {"age": [0, 0, 1, 0], "sex": [0, 1, 1]}),
        ({"age": None}, {"age": [1, 0, 0, 0]}),
        ({"age": 99}, {"age": [0, 0, 0, 0]}),  # nobody: such a rule changes nothing
    ],
)
def test_a_rule_speaks_of_codes(when: dict[str, Any], masks: dict[str, list[int]]) -> None:
    found = Rule(when, "flu", 0.5).masks(trees(), COLUMNS)
    assert {name: mask.astype(int).tolist() for name, mask in found.items()} == masks


def test_a_rule_is_a_value_that_a_recipe_can_hold() -> None:
    rule = Rule({"age": {"from": 40}, "sex": "M"}, "flu", 0.25)
    assert rule.when == {"age": (40, None), "sex": "M"}
    assert rule.to_dict() == {"when": {"age": {"from": 40}, "sex": "M"}, "then": "flu", "confidence": 0.25}
    assert as_rules([rule.to_dict(), rule]) == (rule, rule)
    assert hash(rule) == hash(as_rules([rule.to_dict()])[0])
    assert as_rules([]) == ()


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ({"when": {}, "then": "flu", "confidence": 0.5}, "a rule says when it applies"),
        ({"when": "sex = M", "then": "flu", "confidence": 0.5}, "a rule says when it applies"),
        ({"when": {"sex": "M"}, "then": "flu", "confidence": 1.5}, r"confidence is a share, at most 1, not 1\.5"),
        ({"when": {"sex": "M"}, "then": "flu", "confidence": -0.1}, "confidence"),
        ({"when": {"sex": "M"}, "then": "flu", "confidence": "often"}, "confidence"),
        ({"when": {"age": {}}, "then": "flu", "confidence": 1}, "a rule's range is written"),
        ({"when": {"age": {"above": 3}}, "then": "flu", "confidence": 1}, "a rule's range is written"),
        ({"when": {"sex": "M"}, "then": "flu"}, "a rule has the parts when, then, confidence"),
        ({"when": {"sex": "M"}, "then": "flu", "confidence": 1, "else": "cold"}, "a rule has the parts"),
        (("sex", "M"), "rules is a list of rules"),
    ],
)
def test_what_is_no_rule_is_refused(rule: Any, problem: str) -> None:
    with pytest.raises(RecipeError, match=problem):
        as_rules([rule])


def test_a_rule_speaks_of_quasi_identifiers() -> None:
    with pytest.raises(
        SchemaError, match=r"a rule names 'agge', which is no quasi-identifier\.  Hint: did you mean 'age'"
    ):
        Rule({"agge": 20}, "flu", 1).masks(trees(), COLUMNS)
    with pytest.raises(QueryError, match="a range has no meaning there"):
        Rule({"sex": ("A", "M")}, "flu", 1).masks(trees(), COLUMNS)


def test_a_rule_s_value_is_a_code_or_nobody_s() -> None:
    rules = [Rule({"sex": "M"}, "flu", 0.5), Rule({"sex": "F"}, "plague", 0.25), Rule({"sex": "F"}, "", 1)]
    found = masks_by_value(rules, ILL, trees(), COLUMNS)
    assert [(code, confidence) for code, _, confidence in found] == [(2, 0.5), (-1, 0.25), (0, 1)]


@pytest.mark.parametrize(
    ("one", "two", "clash"),
    [
        ({"sex": "M"}, {"sex": "M"}, True),
        ({"sex": "M"}, {"sex": "F"}, False),
        ({"sex": "M"}, {"age": 20}, True),  # a man of 20
        ({"sex": "M", "age": (20, 40)}, {"sex": "M", "age": (40, 60)}, True),  # both ends are included
        ({"sex": "M", "age": (20, 39)}, {"sex": "M", "age": (40, 60)}, False),
    ],
)
def test_two_rules_about_the_same_people_and_value_are_refused(
    one: dict[str, Any], two: dict[str, Any], clash: bool
) -> None:
    rules = [Rule(one, "flu", 0.5), Rule(two, "flu", 0.25)]
    if clash:
        with pytest.raises(SchemaError, match="two rules are about the same people and value"):
            masks_by_value(rules, ILL, trees(), COLUMNS)
    else:
        assert len(masks_by_value(rules, ILL, trees(), COLUMNS)) == 2
    other = [Rule(one, "flu", 0.5), Rule(two, "cold", 0.25)]
    assert len(masks_by_value(other, ILL, trees(), COLUMNS)) == 2

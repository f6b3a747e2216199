from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.core.groups import Groups
from incrowd.errors import RecipeError, SchemaError
from incrowd.hierarchies.categories import Categories
from incrowd.models.confidence_bounds import ConfidenceBounds
from incrowd.testing.claims import is_a_value
from tests.models.crowds import CHECKED, crowd, crowds, drawn_groups, exact, joined_pairs, shares, verdicts


def test_each_value_has_its_own_bound() -> None:
    groups = crowd("aaab", "abbb", "bbbb", "cccb")
    model = ConfidenceBounds({"a": 0.25, "b": 0.8})
    assert verdicts(model, groups) == [False, True, False, True]
    assert model.achieved(groups) == 3.0  # a has three times what it may have
    assert verdicts(ConfidenceBounds({"a": 0.25}, default=0.75), groups) == [False, True, False, True]


def test_a_bound_of_zero_keeps_a_value_out() -> None:
    model = ConfidenceBounds({"a": 0})
    assert verdicts(model, crowd("bb", "bbbbbba")) == [True, False]
    assert model.achieved(crowd("bb", "bbbbbba")) == math.inf
    assert model.achieved(crowd("bb", withheld="a")) == 1.0


def test_missing_is_a_value_named_by_nothing() -> None:
    for missing in ("counts", "ignored"):
        assert verdicts(ConfidenceBounds({"": 0.5}, missing=missing), crowd("??a", "?a")) == [False, True]
    bounds = ConfidenceBounds({"a": 0.5}, default=0.6, missing="counts")
    assert verdicts(bounds, crowd("??a", "?a", "??a", "?aab")) == [False, True, False, True]
    assert verdicts(ConfidenceBounds({"a": 0.5}, default=0.6), crowd("??a", "?a", "?ab", "??")) == [
        False,
        False,
        True,
        False,
    ]


def test_numbers_are_named_by_their_text() -> None:
    assert verdicts(ConfidenceBounds({"20": 0.5}), crowd([20, 20, 30], [20, 30])) == [False, True]


def test_a_value_that_only_the_hierarchy_has_may_be_bounded() -> None:
    tree = Categories((("a", "x"), ("b", "x"), ("c", "y")))
    assert verdicts(ConfidenceBounds({"c": 0.1, "a": 0.5}), crowd("ab", "a", hierarchy=tree)) == [True, False]


@pytest.mark.parametrize("label", ["B", "x", "ab"])
def test_an_unknown_value_is_named_and_those_of_the_table_are_not(label: str) -> None:
    with pytest.raises(SchemaError, match=f"'s0' has no value '{label}'") as caught:
        ConfidenceBounds({label: 0.5}).satisfied(crowd(["secret", "b"]))
    assert "secret" not in str(caught.value)


def test_several_columns_need_a_name() -> None:
    groups = crowds({"s0": ["ab", "ab"], "s1": ["aa", "ab"]})
    assert verdicts(ConfidenceBounds({"a": 0.5}, column="s1"), groups) == [False, True]
    with pytest.raises(SchemaError, match="several sensitive columns"):
        ConfidenceBounds({"a": 0.5}).satisfied(groups)
    with pytest.raises(SchemaError, match="s2"):
        ConfidenceBounds({"a": 0.5}, column="s2").satisfied(groups)


def test_values_whose_names_are_not_known_are_refused() -> None:
    groups = crowd("ab")
    with pytest.raises(SchemaError, match="not known"):
        ConfidenceBounds({"a": 0.5}).satisfied(Groups(groups.sizes, groups.sensitive))


def test_no_groups() -> None:
    groups = crowd(withheld="ab")
    assert verdicts(ConfidenceBounds({"a": 0.5}), groups) == []
    assert ConfidenceBounds({"a": 0.5}).achieved(groups) == 0


BOUNDS = st.fixed_dictionaries(
    {}, optional={value: st.sampled_from([0, 0.2, 0.25, 0.3, 0.5, 0.75, 1]) for value in ("a", "b", "")}
)


@CHECKED
@given(groups=drawn_groups(), bounds=BOUNDS, default=st.sampled_from([0.4, 0.5, 0.6, 1]))
def test_agrees_with_its_definition_and_is_monotone(groups: list[list[Any]], bounds: Any, default: float) -> None:
    model = ConfidenceBounds(bounds, default, missing="counts")
    expected = [
        all(share <= exact(bounds.get(value or "", default)) for value, share in shares(members).items())
        for members in groups
    ]
    everything = Categories(tuple((letter, letter) for letter in "abcd"))
    counted = crowd(*groups, hierarchy=everything)
    assert verdicts(model, counted) == expected
    assert (model.achieved(counted) <= 1) == all(expected)
    assert all(joined_pairs(model, groups, (), everything))
    assert all(len(members) >= model.min_group for members, fine in zip(groups, expected, strict=True) if fine)


def test_is_not_hereditary() -> None:
    assert not ConfidenceBounds.hereditary
    assert verdicts(ConfidenceBounds({"a": 0.5}), crowd("aab", "ab")) == [False, True]


@pytest.mark.parametrize(("bounds", "default", "least"), [({}, 1, 1), ({"a": 0.1}, 0.5, 2), ({"a": 0.5}, 0.25, 2)])
def test_min_group(bounds: Any, default: float, least: int) -> None:
    assert ConfidenceBounds(bounds, default).min_group == least


@pytest.mark.parametrize(
    ("bounds", "default"),
    [
        ({"a": 1.1}, 1),
        ({"a": -1}, 1),
        ({"a": "b"}, 1),
        ({"a": 0.5}, 2),
        ({1: 0.5}, 1),
        (0.5, 1),
        ({}, 0),
        ({"a": 0}, 0),
    ],
)
def test_parameters_are_checked(bounds: Any, default: float) -> None:
    with pytest.raises(RecipeError, match="confidence-bounds"):
        ConfidenceBounds(bounds, default)


def test_is_a_value_and_says_what_it_is() -> None:
    given_bounds = {"HIV": 0.1}
    model = ConfidenceBounds(given_bounds, column="ill")
    given_bounds["HIV"] = 0.9  # a model does not change under whoever holds it
    assert model == ConfidenceBounds({"HIV": 0.1}, column="ill")
    assert model != ConfidenceBounds({"HIV": 0.2}, column="ill")
    is_a_value(model)
    assert str(model) == "confidence bounds (HIV ≤ 0.1) of ill"
    assert str(ConfidenceBounds({}, 0.5)) == "confidence bounds (others ≤ 0.5)"
    many = dict.fromkeys("abcd", 0.5)
    assert str(ConfidenceBounds(many, 0.9)) == "confidence bounds (a ≤ 0.5, b ≤ 0.5, c ≤ 0.5, …, others ≤ 0.9)"

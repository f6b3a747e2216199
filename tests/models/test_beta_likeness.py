from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import RecipeError
from incrowd.models.beta_likeness import BasicBetaLikeness
from incrowd.testing.claims import is_a_value
from tests.models.crowds import (
    CHECKED,
    QUASI,
    crowd,
    crowds,
    drawn_crowd,
    drawn_groups,
    exact,
    joined_pairs,
    random_tables,
    shares,
    verdicts,
    whole_of,
)


def test_by_hand() -> None:
    groups = crowd("aab", "abb", "bbb", withheld="???")  # a 1/4, b 1/2, missing 1/4
    assert BasicBetaLikeness(1, missing="counts").achieved(groups) == pytest.approx(5 / 3)  # a is 2/3 of the first
    assert verdicts(BasicBetaLikeness(1, missing="counts"), groups) == [False, True, True]
    assert verdicts(BasicBetaLikeness(0.5, missing="counts"), groups) == [False, True, False]
    assert BasicBetaLikeness(1).achieved(groups) == pytest.approx(1)  # of those who have a value, a third has a


def test_a_gain_of_exactly_beta_is_allowed() -> None:
    groups = crowd("a" * 7 + "b" * 3, withheld="a" * 3 + "b" * 7)
    assert verdicts(BasicBetaLikeness(0.4), groups) == [True]
    assert verdicts(BasicBetaLikeness(0.3999), groups) == [False]


def test_falling_shares_and_absent_values_are_not_bounded() -> None:
    assert verdicts(BasicBetaLikeness(0.01), crowd("a" * 200, withheld="bb")) == [True]


def test_one_group_one_value_and_no_groups() -> None:
    assert verdicts(BasicBetaLikeness(1e-9), crowd("aab?")) == [True]
    assert verdicts(BasicBetaLikeness(1e-9), crowd("aa", "a")) == [True, True]
    assert BasicBetaLikeness(1).achieved(crowd("???", "?")) == 0
    assert verdicts(BasicBetaLikeness(1), crowd()) == []
    assert BasicBetaLikeness(1).achieved(crowd()) == 0


def test_missing_is_a_value() -> None:
    assert verdicts(BasicBetaLikeness(1), crowd("??", withheld="aaaaaa")) == [False]


def test_several_columns_all_count_unless_one_is_named() -> None:
    groups = crowds({"s0": ["ab", "ab"], "s1": ["aa", "ab"]})
    assert verdicts(BasicBetaLikeness(0.5), groups) == [True, False]  # b is 1/4 of all and 1/2 of the second
    assert verdicts(BasicBetaLikeness(0.1), groups) == [False, False]
    assert verdicts(BasicBetaLikeness(0.1, column="s0"), groups) == [True, True]


@CHECKED
@given(groups=drawn_groups(), withheld=drawn_crowd(), beta=st.sampled_from([0.1, 0.25, 0.5, 1, 1.5, 2, 4]))
def test_agrees_with_its_definition_and_is_monotone(groups: list[list[Any]], withheld: list[Any], beta: float) -> None:
    model = BasicBetaLikeness(beta, missing="counts")
    whole = shares(whole_of(groups, withheld))
    gains = [max((q - whole[s]) / whole[s] for s, q in shares(members).items()) for members in groups]
    counted = crowd(*groups, withheld=withheld)
    assert verdicts(model, counted) == [gain <= exact(beta) for gain in gains]
    assert model.achieved(counted) == pytest.approx(float(max(gains)), abs=1e-14)
    assert all(joined_pairs(model, groups, withheld))


def test_is_not_hereditary() -> None:
    assert not BasicBetaLikeness.hereditary
    assert verdicts(BasicBetaLikeness(0.1), crowd("aaab", "ab", withheld="bb")) == [False, True]


def test_agrees_with_pycanon() -> None:
    anonymity = pytest.importorskip("pycanon.anonymity")
    for groups, frame, _ in random_tables(20):
        beta = anonymity.basic_beta_likeness(frame, QUASI, ["s"])
        assert BasicBetaLikeness(1).achieved(groups) == pytest.approx(beta, abs=1e-12)
        if beta > 0:
            assert all(verdicts(BasicBetaLikeness(beta), groups))
            assert not all(verdicts(BasicBetaLikeness(beta * 0.999), groups))


@pytest.mark.parametrize("beta", [0, -1, "x", float("inf"), True])
def test_parameters_are_checked(beta: Any) -> None:
    with pytest.raises(RecipeError, match="basic-beta-likeness"):
        BasicBetaLikeness(beta)


def test_is_a_value_and_says_what_it_is() -> None:
    is_a_value(BasicBetaLikeness(1.5, column="s0"))
    assert str(BasicBetaLikeness(1.5)) == "basic 1.5-likeness"
    assert str(BasicBetaLikeness(1.5, column="ill")) == "basic 1.5-likeness of ill"

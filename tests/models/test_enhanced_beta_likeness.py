from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import RecipeError
from incrowd.models.beta_likeness import BasicBetaLikeness
from incrowd.models.enhanced_beta_likeness import EnhancedBetaLikeness
from incrowd.testing.claims import is_a_value
from tests.models.crowds import (
    CHECKED,
    QUASI,
    crowd,
    crowds,
    drawn_crowd,
    drawn_groups,
    joined_pairs,
    random_tables,
    shares,
    verdicts,
    whole_of,
)


def test_by_hand() -> None:
    # a is half of all: it may gain ln 2 = 0.693, whatever beta is; b and c are a quarter each: ln 4 = 1.386.
    groups = crowd("aabc", "aaaab", "aaaaaab", "bbc", withheld="bcccc")
    assert verdicts(EnhancedBetaLikeness(5), groups) == [True, True, False, False]  # gains 0, 0.6, 0.714 and 1.667
    assert verdicts(BasicBetaLikeness(5), groups) == [True, True, True, True]
    assert EnhancedBetaLikeness(5).achieved(groups) == math.inf
    assert verdicts(EnhancedBetaLikeness(0.5), groups) == [True, False, False, False]


def test_certainty_is_never_allowed_unless_it_was_there_before() -> None:
    assert verdicts(EnhancedBetaLikeness(1e6), crowd("aaaaaaaaa", withheld="b")) == [False]
    assert verdicts(EnhancedBetaLikeness(1e-6), crowd("aa", "aaa")) == [True, True]
    assert verdicts(EnhancedBetaLikeness(1e-6), crowd("??", "?")) == [True, True]


def test_a_gain_of_exactly_beta_is_allowed() -> None:
    groups = crowd("a" * 7 + "b" * 3, withheld="a" * 3 + "b" * 7)
    assert verdicts(EnhancedBetaLikeness(0.4), groups) == [True]
    assert verdicts(EnhancedBetaLikeness(0.3999), groups) == [False]


def test_one_group_and_no_groups() -> None:
    assert verdicts(EnhancedBetaLikeness(1e-9), crowd("aab?")) == [True]
    assert verdicts(EnhancedBetaLikeness(1), crowd()) == []
    assert EnhancedBetaLikeness(1).achieved(crowd()) == 0


def test_several_columns_all_count_unless_one_is_named() -> None:
    groups = crowds({"s0": ["ab", "ab"], "s1": ["aa", "ab"]})
    assert verdicts(EnhancedBetaLikeness(1), groups) == [False, True]
    assert verdicts(EnhancedBetaLikeness(1, column="s0"), groups) == [True, True]


@CHECKED
@given(groups=drawn_groups(), withheld=drawn_crowd(), beta=st.sampled_from([0.1, 0.25, 0.5, 1, 1.5, 2, 4]))
def test_agrees_with_its_definition_and_is_monotone(groups: list[list[Any]], withheld: list[Any], beta: float) -> None:
    model = EnhancedBetaLikeness(beta, missing="counts")
    whole = shares(whole_of(groups, withheld))

    def fine(members: list[Any]) -> bool:
        # A logarithm of a fraction is no fraction, so only comparisons with beta can be equal; they are rounded alike.
        gains = [
            (float((q - whole[s]) / whole[s]), float(whole[s])) for s, q in shares(members).items() if q > whole[s]
        ]
        return all(gain <= min(beta, -math.log(p)) for gain, p in gains)

    counted = crowd(*groups, withheld=withheld)
    assert verdicts(model, counted) == [fine(members) for members in groups]
    basic = BasicBetaLikeness(beta, missing="counts").achieved(counted)
    assert model.achieved(counted) == basic or model.achieved(counted) == math.inf
    assert (model.achieved(counted) <= beta + 1e-12) == all(verdicts(model, counted))
    assert all(joined_pairs(model, groups, withheld))


def test_is_not_hereditary() -> None:
    assert not EnhancedBetaLikeness.hereditary
    assert verdicts(EnhancedBetaLikeness(0.1), crowd("aaab", "ab", withheld="bb")) == [False, True]


def test_pycanon_caps_the_basic_beta_instead() -> None:
    """pyCANON's number is min(basic beta, −ln of the rarest share): where the cap is reached, groups do not satisfy it.

    So the definition is the oracle, above; here only that the two say the same where no cap is reached.
    """
    anonymity = pytest.importorskip("pycanon.anonymity")
    uncapped = 0
    for groups, frame, plain in random_tables(24):
        theirs = anonymity.enhanced_beta_likeness(frame, QUASI, ["s"])
        rarest = float(min(shares(whole_of(plain, ())).values()))
        assert theirs == pytest.approx(min(BasicBetaLikeness(1).achieved(groups), -math.log(rarest)), abs=1e-12)
        ours = EnhancedBetaLikeness(1).achieved(groups)
        if ours < math.inf:
            uncapped += 1
            assert ours == pytest.approx(theirs, abs=1e-12)
    assert uncapped > 10


@pytest.mark.parametrize("beta", [0, -1, "x", float("nan")])
def test_parameters_are_checked(beta: Any) -> None:
    with pytest.raises(RecipeError, match="enhanced-beta-likeness"):
        EnhancedBetaLikeness(beta)


def test_is_a_value_and_says_what_it_is() -> None:
    is_a_value(EnhancedBetaLikeness(1.5, column="s0"))
    assert str(EnhancedBetaLikeness(1.5)) == "enhanced 1.5-likeness"
    assert str(EnhancedBetaLikeness(1.5, column="ill")) == "enhanced 1.5-likeness of ill"

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import RecipeError
from incrowd.models.delta_disclosure import DeltaDisclosure
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
    groups = crowd("aab", "abb")  # a and b are half of the whole table each
    assert DeltaDisclosure(1).achieved(groups) == pytest.approx(math.log(3 / 2))  # ln(1/3 ÷ 1/2) is the largest
    assert verdicts(DeltaDisclosure(0.41), groups) == [True, True]
    assert verdicts(DeltaDisclosure(0.4), groups) == [False, False]


def test_the_bound_is_strict() -> None:
    groups = crowd("aab", "abb")
    assert verdicts(DeltaDisclosure(math.log(3 / 2)), groups) == [False, False]
    assert verdicts(DeltaDisclosure(math.log(3 / 2) + 1e-9), groups) == [True, True]


def test_an_absent_value_violates_every_delta_or_is_ignored() -> None:
    groups = crowd("aab", "aa", withheld="b")
    assert verdicts(DeltaDisclosure(100), groups) == [True, False]
    assert DeltaDisclosure(100).achieved(groups) == math.inf
    assert verdicts(DeltaDisclosure(100, absent="ignored"), groups) == [True, True]
    assert DeltaDisclosure(100, absent="ignored").achieved(groups) == pytest.approx(math.log(3 / 2))


def test_a_value_that_only_withheld_rows_have_is_absent_too() -> None:
    assert verdicts(DeltaDisclosure(100), crowd("ab", withheld="c")) == [False]
    assert verdicts(DeltaDisclosure(100, missing="counts"), crowd("ab", withheld="?")) == [False]
    assert verdicts(DeltaDisclosure(100), crowd("ab", withheld="?")) == [True]


def test_one_group_and_one_value() -> None:
    assert verdicts(DeltaDisclosure(1e-15), crowd("aab?")) == [True]
    assert verdicts(DeltaDisclosure(1e-15), crowd("a", "aa")) == [True, True]
    assert DeltaDisclosure(1).achieved(crowd("???")) == 0


def test_no_groups() -> None:
    assert verdicts(DeltaDisclosure(1), crowd()) == []
    assert DeltaDisclosure(1).achieved(crowd(withheld="ab")) == 0


def test_several_columns_all_count_unless_one_is_named() -> None:
    groups = crowds({"s0": ["ab", "ab"], "s1": ["aa", "ab"]})
    assert verdicts(DeltaDisclosure(1), groups) == [False, True]
    assert verdicts(DeltaDisclosure(1, column="s0"), groups) == [True, True]


@pytest.mark.parametrize("absent", ["violates", "ignored"])
@CHECKED
@given(
    groups=drawn_groups((None, "a", "b")),
    withheld=drawn_crowd((None, "a", "b")),
    delta=st.sampled_from([0.01, 0.3, 0.7, 1.1, 2.0]),
)
def test_agrees_with_its_definition(groups: list[list[Any]], withheld: list[Any], delta: float, absent: Any) -> None:
    model = DeltaDisclosure(delta, absent, missing="counts")
    whole = shares(whole_of(groups, withheld))

    def worst(members: list[Any]) -> float:
        own = shares(members)
        lacks = absent == "violates" and len(own) < len(whole)
        return math.inf if lacks else max(abs(math.log(share / whole[value])) for value, share in own.items())

    counted = crowd(*groups, withheld=withheld)
    assert verdicts(model, counted) == [worst(members) < delta for members in groups]
    assert model.achieved(counted) == pytest.approx(max(map(worst, groups)), abs=1e-14)
    if model.monotone:
        assert all(joined_pairs(model, groups, withheld))


def test_is_monotone_only_where_absent_values_violate() -> None:
    assert DeltaDisclosure(1).monotone
    assert not DeltaDisclosure(1, "ignored").monotone
    # The one that lacks b halves its share in the other: 4/11 of all, 1/4 of the first, 1/8 of the two together.
    model = DeltaDisclosure(0.5, "ignored")
    assert joined_pairs(model, ["aaab", "aaaa"], "bbb") == [False]


def test_is_not_hereditary() -> None:
    assert not DeltaDisclosure.hereditary
    assert verdicts(DeltaDisclosure(0.1), crowd("aaab", "ab", withheld="bb")) == [False, True]


def test_agrees_with_pycanon_which_ignores_absent_values() -> None:
    anonymity = pytest.importorskip("pycanon.anonymity")
    for groups, frame, plain in random_tables(20):
        delta = anonymity.delta_disclosure(frame, QUASI, ["s"])
        assert DeltaDisclosure(1, "ignored").achieved(groups) == pytest.approx(delta, abs=1e-12)
        # By the definition, delta is infinite where a group lacks a value; pyCANON is no oracle there.
        distinct = {len(set(members)) for members in plain}
        complete = distinct == {len({value for members in plain for value in members})}
        by_definition = DeltaDisclosure(1).achieved(groups)
        assert by_definition == (pytest.approx(delta, abs=1e-12) if complete else math.inf)


@pytest.mark.parametrize(("delta", "absent"), [(0, "violates"), (-1, "ignored"), ("x", "ignored"), (1, "allowed")])
def test_parameters_are_checked(delta: Any, absent: Any) -> None:
    with pytest.raises(RecipeError, match="delta-disclosure"):
        DeltaDisclosure(delta, absent)


def test_is_a_value_and_says_what_it_is() -> None:
    is_a_value(DeltaDisclosure(1.5, "ignored", column="s0"))
    assert str(DeltaDisclosure(1.5)) == "1.5-disclosure privacy"
    assert str(DeltaDisclosure(1, "ignored", column="ill")) == "1-disclosure privacy, absent values ignored of ill"

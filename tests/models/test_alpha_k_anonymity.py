from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import RecipeError, SchemaError
from incrowd.models.alpha_k_anonymity import AlphaKAnonymity
from incrowd.testing.claims import is_a_value
from tests.models.crowds import CHECKED, QUASI, crowd, crowds, drawn_groups, joined_pairs, random_tables, verdicts


def test_shares_and_sizes_both_count() -> None:
    groups = crowd("aabb", "aaab", "ab", "?abc")
    assert verdicts(AlphaKAnonymity(0.5, 3), groups) == [True, False, False, True]
    assert verdicts(AlphaKAnonymity(0.5, 2), groups) == [True, False, True, True]
    assert AlphaKAnonymity(0.5, 2).achieved(groups) == 0.75
    assert AlphaKAnonymity(0.5, 3).achieved(groups) == math.inf  # whatever alpha is, two rows are not three


def test_missing_is_a_value_where_it_counts() -> None:
    assert verdicts(AlphaKAnonymity(0.5, 1, missing="counts"), crowd("???a", "?a", "?ab")) == [False, True, True]
    assert verdicts(AlphaKAnonymity(0.5, 1), crowd("???a", "?a", "?ab")) == [False, False, True]


@pytest.mark.parametrize(
    ("alpha", "frequent", "size"), [(0.57, 57, 100), (0.29, 29, 100), (1 / 3, 1, 3), (1 / 49, 1, 49), (0.07, 7, 100)]
)
def test_a_share_of_exactly_alpha_is_allowed(alpha: float, frequent: int, size: int) -> None:
    others = list(range(10, 10 + size - frequent))
    assert verdicts(AlphaKAnonymity(alpha, 1), crowd([1] * frequent + others)) == [True]
    assert verdicts(AlphaKAnonymity(alpha, 1), crowd([1] * (frequent + 1) + others)) == [False]


@pytest.mark.parametrize(
    ("alpha", "k", "least"), [(1, 1, 1), (0.5, 1, 2), (0.5, 7, 7), (1 / 49, 3, 49), (0.3, 2, 4), (0.1, 2, 10)]
)
def test_min_group(alpha: float, k: int, least: int) -> None:
    assert AlphaKAnonymity(alpha, k).min_group == least
    assert verdicts(AlphaKAnonymity(alpha, k), crowd(list(range(least)))) == [True]
    if least > 1:
        assert verdicts(AlphaKAnonymity(alpha, k), crowd(list(range(least - 1)))) == [False]


def test_several_columns_all_count_unless_one_is_named() -> None:
    groups = crowds({"s0": ["ab", "ab"], "s1": ["aa", "ab"]})
    assert verdicts(AlphaKAnonymity(0.5, 2), groups) == [False, True]
    assert verdicts(AlphaKAnonymity(0.5, 2, column="s0"), groups) == [True, True]
    with pytest.raises(SchemaError, match="s2"):
        AlphaKAnonymity(0.5, 2, column="s2").satisfied(groups)


def test_no_groups() -> None:
    groups = crowd()
    assert verdicts(AlphaKAnonymity(0.5, 2), groups) == []
    assert AlphaKAnonymity(0.5, 2).achieved(groups) == 0


@CHECKED
@given(groups=drawn_groups(), alpha=st.sampled_from([0.2, 0.25, 0.4, 0.5, 0.6, 2 / 3, 1]), k=st.integers(1, 5))
def test_agrees_with_its_definition_and_is_monotone(groups: list[list[object]], alpha: float, k: int) -> None:
    model = AlphaKAnonymity(alpha, k, missing="counts")
    expected = [len(members) >= k and max(Counter(members).values()) / len(members) <= alpha for members in groups]
    assert verdicts(model, crowd(*groups)) == expected
    assert all(joined_pairs(model, groups, ()))
    assert all(len(members) >= model.min_group for members, fine in zip(groups, expected, strict=True) if fine)


def test_is_not_hereditary() -> None:
    assert not AlphaKAnonymity.hereditary
    assert verdicts(AlphaKAnonymity(0.5, 1), crowd("aaab", "ab")) == [False, True]


def test_agrees_with_pycanon() -> None:
    anonymity = pytest.importorskip("pycanon.anonymity")
    for groups, frame, plain in random_tables(20):
        alpha, k = anonymity.alpha_k_anonymity(frame, QUASI, ["s"])
        assert k == min(map(len, plain))
        assert AlphaKAnonymity(0.5, k).achieved(groups) == alpha
        assert all(verdicts(AlphaKAnonymity(alpha, k), groups))
        assert not all(verdicts(AlphaKAnonymity(alpha * 0.999, k), groups))


@pytest.mark.parametrize(("alpha", "k"), [(0, 2), (1.5, 2), (-0.1, 2), ("a", 2), (True, 2), (0.5, 0), (0.5, 1.5)])
def test_parameters_are_checked(alpha: float, k: int) -> None:
    with pytest.raises(RecipeError, match="alpha-k-anonymity"):
        AlphaKAnonymity(alpha, k)


def test_is_a_value_and_says_what_it_is() -> None:
    is_a_value(AlphaKAnonymity(0.5, 3, column="s0"))
    assert str(AlphaKAnonymity(0.5, 3)) == "(0.5,3)-anonymity"
    assert str(AlphaKAnonymity(0.5, 3, column="ill")) == "(0.5,3)-anonymity of ill"

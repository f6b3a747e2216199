"""Probabilistic ℓ-diversity: numbers by hand, and pyCANON's α, which is 1/ℓ, on generated tables."""

from __future__ import annotations

import pytest
from pycanon.anonymity import alpha_k_anonymity

from incrowd.errors import RecipeError
from incrowd.models.probabilistic_l_diversity import ProbabilisticLDiversity
from tests.models.judging import QUASI, SENSITIVE, groups, tables


@pytest.mark.parametrize(
    ("members", "l"),
    [
        ("aaabbc", 2),  # Sattar §3: {A,A,A,B,B,C} gives A a confidence of 50 %
        ("a", 1),  # one row
        ("aaaa", 1),  # all equal
        ("abcd", 4),  # all different
        ("aabb", 2),  # a tie
        ("aab", 1.5),
        ("a--", 1),  # missing is no value
        ("ab--", 2),
        ("--", 1),
    ],
)
def test_achieved_is_the_size_over_the_most_frequent(members: str, l: float) -> None:
    some = groups(members)
    assert ProbabilisticLDiversity(1).achieved(some) == l
    assert ProbabilisticLDiversity(l).satisfied(some).all()
    assert not ProbabilisticLDiversity(l + 0.001).satisfied(some).any()


def test_equality_is_enough_whatever_floating_point_says() -> None:
    # In floats 1.1 · 50 is 55.00000000000001, more than 55.
    assert ProbabilisticLDiversity(1.1).satisfied(groups("a" * 50 + "b" * 5)).all()


def test_the_worst_group_and_the_worst_column_decide() -> None:
    both = groups(disease=["aabb", "aaab"], salary=["xxyy", "xyzz"])
    assert ProbabilisticLDiversity(2).satisfied(both).tolist() == [True, False]
    assert ProbabilisticLDiversity(2, column="salary").satisfied(both).all()
    assert ProbabilisticLDiversity(1).achieved(both) == pytest.approx(4 / 3)
    assert ProbabilisticLDiversity(1, column="salary").achieved(both) == 2


@pytest.mark.parametrize(("l", "rows"), [(1, 1), (1.5, 2), (2, 2), (2.01, 3)])
def test_min_group(l: float, rows: int) -> None:
    assert ProbabilisticLDiversity(l).min_group == rows


@pytest.mark.parametrize("l", [0.5, float("nan"), True, "2"])
def test_l_is_a_number_from_1(l: object) -> None:
    with pytest.raises(RecipeError, match="l is a number of at least 1"):
        ProbabilisticLDiversity(l)  # type: ignore[arg-type]


def test_agrees_with_pycanon() -> None:
    for table in tables(20):
        alpha, _ = alpha_k_anonymity(table.pandas, QUASI, SENSITIVE)
        model = ProbabilisticLDiversity(1, missing="counts")  # pyCANON is given missing values as a value
        assert model.achieved(table.groups) == pytest.approx(1 / alpha)

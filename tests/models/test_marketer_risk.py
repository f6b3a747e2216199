from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.groups import Groups
from incrowd.core.model import for_each_group
from incrowd.errors import RecipeError, Unsatisfiable
from incrowd.models.marketer_risk import MarketerRisk
from incrowd.testing.claims import is_a_value
from tests.models.crowds import CHECKED, verdicts

SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=8)
RISKS = st.sampled_from([0.125, 0.25, 0.5, 0.75, 1.0])


def sized(*sizes: int) -> Groups:
    return Groups(np.array(sizes, dtype=np.int64))


def test_all_groups_get_the_verdict_of_all() -> None:
    assert MarketerRisk(0.5).achieved(sized(1, 3)) == 0.5
    assert verdicts(MarketerRisk(0.5), sized(1, 3)) == [True, True]
    assert verdicts(MarketerRisk(0.49), sized(1, 3)) == [False, False]
    assert verdicts(MarketerRisk(0.5), sized(1)) == [False]  # alone, the small one is not made up for


def test_a_share_of_exactly_the_risk_is_allowed() -> None:
    assert verdicts(MarketerRisk(0.3), sized(1, 1, 8)) == [True] * 3
    assert verdicts(MarketerRisk(1 / 3), sized(3)) == [True]


def test_no_groups() -> None:
    assert verdicts(MarketerRisk(0.5), sized()) == []
    assert MarketerRisk(0.5).achieved(sized()) == 0


@CHECKED
@given(sizes=SIZES, risk=RISKS)
def test_is_the_mean_over_rows_and_holds_its_claims(sizes: list[int], risk: float) -> None:
    model = MarketerRisk(risk)
    mean = sum(Fraction(size, sum(sizes)) * Fraction(1, size) for size in sizes)
    assert verdicts(model, sized(*sizes)) == [mean <= Fraction(risk)] * len(sizes)
    joined = [sum(sizes[:2]), *sizes[2:]]
    split = [part for size in sizes for part in (size // 2, size - size // 2) if part]
    if mean <= Fraction(risk):
        assert all(verdicts(model, sized(*joined)))
    else:
        assert not any(verdicts(model, sized(*split)))


@CHECKED
@given(sizes=SIZES, risk=st.integers(1, 60).map(lambda k: 1 / k) | st.floats(0.01, 1))
def test_every_group_within_the_bound_means_the_mean_is(sizes: list[int], risk: float) -> None:
    (of_each,) = for_each_group([MarketerRisk(risk)])
    if all(verdicts(of_each, sized(*sizes))):
        assert all(verdicts(MarketerRisk(risk), sized(*sizes)))


# --- releases ---


@pytest.mark.parametrize("cuts", ["strict", "relaxed"])
def test_mondrian_holds_every_group_to_the_mean(cuts: Any) -> None:
    table = ic.read(ic.datasets.census(600), quasi=["age", "sex", "education"], others="drop")
    release = ic.publish(table, MarketerRisk(0.1), method=ic.Mondrian(cuts=cuts))
    sizes = release.form.group_sizes
    assert sizes.min() >= 10
    assert release.guarantees[0].achieved == len(sizes) / 600 < 0.1
    ten = ic.publish(table, ic.KAnonymity(10), method=ic.Mondrian(cuts=cuts))
    assert release.to_polars().equals(ten.to_polars())


def test_the_full_domain_search_lets_large_groups_make_up_for_small_ones() -> None:
    table = ic.read(ic.datasets.census(600), quasi=["age", "sex"], others="drop")
    release = ic.publish(table, MarketerRisk(0.1), method=ic.FullDomain())
    sizes = release.form.group_sizes
    assert sizes.min() < 10
    assert len(sizes) / sizes.sum() <= 0.1


def test_more_than_all_rows_in_one_group_can_give_is_unsatisfiable() -> None:
    table = ic.read(ic.datasets.census(9), quasi=["age", "sex"], others="drop")
    with pytest.raises(Unsatisfiable, match=r"marketer risk of at most 0.1: all 9 rows together reach 0.1111"):
        ic.publish(table, MarketerRisk(0.1))


@pytest.mark.parametrize("risk", [0, -0.1, 1.1, "x", None])
def test_parameters_are_checked(risk: Any) -> None:
    with pytest.raises(RecipeError, match="marketer-risk"):
        MarketerRisk(risk)


def test_is_a_value_and_says_what_it_is() -> None:
    is_a_value(MarketerRisk(0.2))
    assert str(MarketerRisk(0.2)) == "marketer risk of at most 0.2"

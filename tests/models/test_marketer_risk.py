from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from crowds import CHECKED, verdicts
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import RecipeError
from incrowd.groups import Groups
from incrowd.models.marketer_risk import MarketerRisk
from incrowd.testing.claims import is_a_value

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


@pytest.mark.parametrize("risk", [0, -0.1, 1.1, "x", None])
def test_parameters_are_checked(risk: Any) -> None:
    with pytest.raises(RecipeError, match="marketer-risk"):
        MarketerRisk(risk)


def test_is_a_value_and_says_what_it_is() -> None:
    is_a_value(MarketerRisk(0.2))
    assert str(MarketerRisk(0.2)) == "marketer risk of at most 0.2"

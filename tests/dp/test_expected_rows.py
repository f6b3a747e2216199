"""Expected numbers of published rows: against sums over all outcomes, and by how much one person changes them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from incrowd.dp.expected_rows import UNITS_PER_ROW, ExpectedRows
from incrowd.errors import RecipeError


def naive(k: int, rate: Fraction, people: int) -> float:
    """Go through all numbers of people in the sample."""
    return float(
        sum(
            seen * math.comb(people, seen) * rate**seen * (1 - rate) ** (people - seen) for seen in range(k, people + 1)
        )
    )


@pytest.mark.parametrize("k", [1, 2, 5, 20])
@pytest.mark.parametrize("rate", ["0.05", "0.3", "1/2", "0.9"])
def test_the_same_as_a_sum_over_all_outcomes(k: int, rate: str) -> None:
    expected = ExpectedRows(k, Fraction(rate))
    for people in (0, 1, k - 1, k, k + 1, 3 * k, 10 * k, 40 * k):
        found = expected.published(np.array([people]))
        # Every step is rounded down by less than one unit.
        assert found <= naive(k, Fraction(rate), people) + 1e-9
        assert found >= naive(k, Fraction(rate), people) - people / UNITS_PER_ROW - 1e-9


def test_crowds_add_up() -> None:
    expected = ExpectedRows(5, Fraction(1, 10))
    sizes = np.array([3, 40, 10_000_000])
    assert expected.units(sizes) == sum(expected.units(np.array([size])) for size in sizes)
    assert expected.published(np.array([10_000_000])) == pytest.approx(1_000_000, rel=1e-6)


@pytest.mark.parametrize(("k", "rate"), [(1, "0.3"), (2, "0.9"), (5, "0.5"), (20, "0.1"), (100, "0.02")])
def test_one_person_never_lowers_a_sum_and_raises_it_by_the_largest_step_at_most(k: int, rate: str) -> None:
    expected = ExpectedRows(k, Fraction(rate))
    last = int(5 * k / Fraction(rate)) + 500  # from there on, hardly anybody is suppressed
    units = np.array([expected.units(np.array([people])) for people in range(last)])
    steps = np.diff(units)
    assert steps.min() >= 0
    assert steps.max() == expected.largest_step
    # About one row and 0.4·√k of them, where a bare threshold would have k/β.
    assert expected.largest_step <= UNITS_PER_ROW * (1 + 0.8 * math.sqrt(k))


def test_crowds_without_end_are_refused() -> None:
    with pytest.raises(RecipeError, match="too large crowds"):
        ExpectedRows(1000, Fraction(1, 10**6)).units(np.array([1]))

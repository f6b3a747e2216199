"""The mean of 1/F against the sum that defines it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from incrowd.models.negative_binomial import mean_inverse


def by_definition(drawn: int, people: float) -> float:
    """Add up P(F = j) / j until nothing is left to add."""
    chance = drawn / people
    if chance >= 1:
        return 1 / drawn
    probability, size = chance**drawn, drawn
    terms, total = [], 0.0
    while total < 1 - 1e-13 and size < 2_000_000:
        terms.append(probability / size)
        total += probability
        probability *= size / (size - drawn + 1) * (1 - chance)
        size += 1
    return math.fsum(terms)


@pytest.mark.parametrize("drawn", [1, 2, 3, 4, 5, 11, 12, 13, 14, 50])
@pytest.mark.parametrize("times", [1.0, 1.001, 1.3, 1.99, 2.0, 2.01, 3.5, 20.0, 400.0])
def test_it_is_the_sum(drawn: int, times: float) -> None:
    people = drawn * times
    (found,) = mean_inverse(np.array([drawn]), np.array([people]))
    assert found == pytest.approx(by_definition(drawn, people), rel=1e-9)
    assert 1 / people <= found * (1 + 1e-12)  # Jensen: never below one over the estimate
    assert found <= 1 / drawn * (1 + 1e-12)


def test_closed_forms() -> None:
    """Those of Benedetti and Franconi for one, two and three people."""
    for chance in (0.01, 0.2, 0.49, 0.51, 0.9):
        q, log = 1 - chance, math.log(chance)
        one = -chance / q * log
        two = chance / q**2 * (chance * log + q)
        three = chance / (2 * q**3) * (q * (3 * q - 2) - 2 * chance**2 * log)
        drawn = np.array([1, 2, 3])
        assert mean_inverse(drawn, drawn / chance).tolist() == pytest.approx([one, two, three], rel=1e-9)


def test_weights_that_are_too_small_leave_nobody_else() -> None:
    assert mean_inverse(np.array([1, 4]), np.array([0.0, 2.0])).tolist() == [1, 0.25]
    assert mean_inverse(np.array([], dtype=np.int64), np.array([])).tolist() == []


def test_huge_populations() -> None:
    drawn, people = np.array([1, 2, 1000]), np.array([1e9, 1e9, 1e12])
    expected = [math.log(1e9) / 1e9, 1e-9 * 2 * (1 - 2e-9 * math.log(5e8)), 1e-12 * 1000 / 999]
    assert mean_inverse(drawn, people).tolist() == pytest.approx(expected, rel=1e-6)

"""The discrete Gaussian distribution: against its formula and OpenDP, and what it costs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from incrowd.common.randomness import randomness
from incrowd.dp import discrete_gaussian as module
from incrowd.dp.discrete_gaussian import (
    discrete_gaussian,
    gaussian_counts,
    gaussian_deviation,
    gaussian_variance,
    price,
)
from incrowd.errors import RecipeError
from tests.goodness import SIGNIFICANT, fit, same

DEVIATIONS = [Fraction(1), Fraction(10), Fraction(1, 3), Fraction(7, 4), Fraction(401, 64), Fraction(45)]


def formula(values: NDArray[np.int64], deviation: Fraction) -> NDArray[np.float64]:
    """Return P[x] ∝ exp(−x²/(2σ²)), added up in plain sight."""
    everything = np.arange(-int(40 * deviation) - 40, int(40 * deviation) + 41)
    total = np.exp(-(everything**2) / (2 * float(deviation) ** 2)).sum()
    return np.asarray(np.exp(-(values**2) / (2 * float(deviation) ** 2)) / total)


def cells(draws: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.arange(draws.min(), draws.max() + 1), np.bincount(draws - draws.min())


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=str)
def test_draws_have_the_distribution(deviation: Fraction) -> None:
    draws = discrete_gaussian(randomness(1), deviation, 200_000)
    values, counts = cells(draws)
    assert fit(counts, formula(values, deviation)) > SIGNIFICANT
    assert draws.var() == pytest.approx(gaussian_variance(deviation), rel=0.02)
    # The check has teeth: noise that is a tenth too small is found.
    assert fit(counts, formula(values, deviation * Fraction(11, 10))) < SIGNIFICANT


def test_a_wide_distribution_is_the_normal_one() -> None:
    deviation = Fraction(2**24)
    draws = discrete_gaussian(randomness(2), deviation, 50_000)
    assert stats.kstest(draws / float(deviation), "norm").pvalue > SIGNIFICANT


def test_rare_draws_that_do_not_fit_are_exact_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LARGEST_ROOT", 1)
    values, counts = cells(discrete_gaussian(randomness(3), Fraction(7, 4), 50_000))
    assert fit(counts, formula(values, Fraction(7, 4))) > SIGNIFICANT


def test_opendp_draws_the_same() -> None:
    """OpenDP takes no seed, so this one may fail once in a thousand million runs."""
    opendp = pytest.importorskip("opendp.prelude")
    opendp.enable_features("contrib")
    domain, distance = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l2_distance(T="i64")
    theirs = np.array(opendp.m.make_gaussian(domain, distance, scale=6.5)([0] * 30_000), dtype=np.int64)
    assert same(discrete_gaussian(randomness(8), Fraction(13, 2), 100_000), theirs) > 1e-9


@given(st.fractions(min_value=Fraction(1, 10**10), max_value=100))
def test_no_more_is_spent_than_was_given(rho: Fraction) -> None:
    deviation = gaussian_deviation(rho)
    assert price(deviation) <= rho
    assert float(price(deviation)) == pytest.approx(float(rho), rel=0.25 if rho > 1 else 0.05)
    discrete_gaussian(randomness(1), deviation, 3)


@pytest.mark.parametrize("wrong", [Fraction(0), Fraction(-1), Fraction(2**24 + 1), Fraction(1, 65)], ids=str)
def test_a_deviation_that_does_not_fit_is_refused(wrong: Fraction) -> None:
    with pytest.raises(ValueError, match="σ"):
        discrete_gaussian(randomness(1), wrong, 1)


def test_a_price_that_does_not_fit_is_refused() -> None:
    with pytest.raises(RecipeError, match="so small"):
        gaussian_deviation(Fraction(1, 10**20))
    with pytest.raises(ValueError, match="above 0"):
        gaussian_deviation(Fraction(0))


def test_counts_keep_their_shape_and_have_room() -> None:
    counts = np.arange(6).reshape(2, 3)
    assert gaussian_counts(randomness(1), counts, Fraction(3)).shape == (2, 3)
    assert gaussian_counts(randomness(1), np.empty(0, dtype=np.int64), Fraction(3)).size == 0
    with pytest.raises(ValueError, match="no room"):
        gaussian_counts(randomness(1), np.array([2**62 + 1]), Fraction(3))

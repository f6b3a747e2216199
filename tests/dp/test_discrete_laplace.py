"""The discrete Laplace distribution: against its formula, SciPy and OpenDP."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from incrowd.common.randomness import randomness
from incrowd.dp.discrete_laplace import discrete_laplace, half_width, noise_scale, noisy_counts, variance
from incrowd.errors import RecipeError
from tests.goodness import SIGNIFICANT, fit, same

SCALES = [Fraction(1), Fraction(10), Fraction(1, 3), Fraction(7, 3), Fraction(100, 7), Fraction(3, 10), Fraction(200)]


def cells(draws: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    values = np.arange(draws.min(), draws.max() + 1)
    return values, np.bincount(draws - draws.min())


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_draws_have_the_distribution(scale: Fraction) -> None:
    values, counts = cells(discrete_laplace(randomness(1), scale, 400_000))
    assert fit(counts, stats.dlaplace.pmf(values, 1 / float(scale))) > SIGNIFICANT


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_the_formula_is_that_of_scipy(scale: Fraction) -> None:
    values = np.arange(-5, 6)
    ratio = math.exp(-1 / float(scale))
    np.testing.assert_allclose(
        stats.dlaplace.pmf(values, 1 / float(scale)), (1 - ratio) / (1 + ratio) * ratio ** np.abs(values), rtol=1e-12
    )


@pytest.mark.parametrize(
    "scale", [Fraction(2**40), Fraction(2**40, 3), Fraction(10**12, 7), Fraction(2**40 - 1, 2**20)]
)
def test_a_wide_distribution_is_that_of_laplace(scale: Fraction) -> None:
    draws = discrete_laplace(randomness(2), scale, 100_000)
    assert stats.kstest(draws / float(scale), "laplace").pvalue > SIGNIFICANT
    assert stats.binomtest(int((draws % 2).sum()), 100_000).pvalue > SIGNIFICANT  # the low bits are even, too


def test_a_narrow_distribution_is_all_zeros() -> None:
    assert not discrete_laplace(randomness(3), Fraction(1, 100), 10_000).any()
    assert not discrete_laplace(randomness(3), Fraction(1, 2**40), 10_000).any()


@pytest.mark.parametrize("seed", [None, 4])
@pytest.mark.parametrize("size", [0, 1, 2, 1000, 2**18, 2**18 + 1])
def test_as_many_are_drawn_as_were_asked_for(seed: int | None, size: int) -> None:
    draws = discrete_laplace(randomness(seed), Fraction(5), size)
    assert draws.dtype == np.int64
    assert draws.shape == (size,)


def test_a_seed_repeats_and_no_seed_does_not() -> None:
    once, again = (discrete_laplace(randomness(5), Fraction(10), 1000) for _ in range(2))
    assert (once == again).all()
    once, again = (discrete_laplace(randomness(None), Fraction(10), 1000) for _ in range(2))
    assert (once != again).any()


def test_draws_do_not_depend_on_each_other() -> None:
    draws = discrete_laplace(randomness(6), Fraction(10), 600_000).astype(float)
    for lag in (1, 2, 7, 2**17):
        correlation = np.corrcoef(draws[lag:], draws[:-lag])[0, 1]
        assert abs(correlation) * math.sqrt(len(draws) - lag) < 5
    signs = np.sign(draws[:-1]) * 3 + np.sign(draws[1:])
    share = np.array([(np.sign(draws) == sign).mean() for sign in (-1, 0, 1)])
    assert fit(np.bincount((signs + 4).astype(int), minlength=9), np.outer(share, share).ravel()) > SIGNIFICANT


def test_pieces_are_joined_without_a_seam() -> None:
    """Draws near the end of a piece are like all others."""
    draws = discrete_laplace(randomness(7), Fraction(3), 2**18 * 3)
    values, counts = cells(np.concatenate([draws[start - 3000 : start + 3000] for start in (2**18, 2**19)]))
    assert fit(counts, stats.dlaplace.pmf(values, 1 / 3)) > SIGNIFICANT


@pytest.mark.parametrize("scale", [Fraction(10), Fraction(7, 3)], ids=str)
def test_opendp_draws_the_same(scale: Fraction) -> None:
    """OpenDP takes no seed, so this one may fail once in a thousand million runs."""
    opendp = pytest.importorskip("opendp.prelude")
    opendp.enable_features("contrib")
    domain, distance = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l1_distance(T="i64")
    add_noise = opendp.m.make_laplace(domain, distance, scale=float(scale))
    theirs = np.array(add_noise([0] * 30_000), dtype=np.int64)
    assert same(discrete_laplace(randomness(8), scale, 100_000), theirs) > 1e-9
    values, counts = cells(theirs)
    assert fit(counts, stats.dlaplace.pmf(values, 1 / float(scale))) > 1e-9


@pytest.mark.parametrize("wrong", [Fraction(0), Fraction(-1), Fraction(2**40 + 1), Fraction(1, 2**40 + 1)], ids=str)
def test_a_scale_that_does_not_fit_is_refused(wrong: Fraction) -> None:
    with pytest.raises(ValueError, match="scale"):
        discrete_laplace(randomness(1), wrong, 1)


@given(
    st.fractions(min_value=Fraction(1, 10**6), max_value=1000),
    st.fractions(min_value=Fraction(1, 1000), max_value=1000),
)
def test_a_scale_is_never_too_small(epsilon: Fraction, sensitivity: Fraction) -> None:
    scale = noise_scale(sensitivity, epsilon)
    exact = sensitivity / epsilon
    assert exact <= scale <= exact * (1 + Fraction(1, 2**38))
    assert max(scale.numerator, scale.denominator) <= 2**40
    discrete_laplace(randomness(1), scale, 3)


@pytest.mark.parametrize("tenths", range(1, 31))
def test_usual_scales_are_exact(tenths: int) -> None:
    assert noise_scale(Fraction(16), Fraction(tenths, 10)) == Fraction(160, tenths)


def test_an_epsilon_from_a_long_float_still_works() -> None:
    epsilon = Fraction(str(0.1 / 3))
    assert epsilon.denominator > 2**40
    scale = noise_scale(Fraction(1), epsilon)
    assert 1 / scale <= epsilon
    assert math.isclose(scale, 30, rel_tol=1e-11)


@pytest.mark.parametrize(
    ("sensitivity", "epsilon"),
    [
        (Fraction(0), Fraction(1)),
        (Fraction(1), Fraction(0)),
        (Fraction(1), Fraction(-1)),
        (Fraction(1), Fraction(1, 2**41)),
    ],
)
def test_noise_that_cannot_be_made_is_refused(sensitivity: Fraction, epsilon: Fraction) -> None:
    with pytest.raises((ValueError, RecipeError), match="ε"):
        noise_scale(sensitivity, epsilon)


def test_counts_get_noise_of_their_own_and_stay_as_they_were() -> None:
    counts = np.arange(60_000).reshape(20_000, 3)
    before = counts.copy()
    noisy = noisy_counts(randomness(9), counts, epsilon=Fraction(1, 2), sensitivity=Fraction(3))
    assert noisy.shape == counts.shape
    assert noisy.dtype == np.int64
    assert (counts == before).all()
    values, seen = cells((noisy - counts).ravel())
    assert fit(seen, stats.dlaplace.pmf(values, 1 / 6)) > SIGNIFICANT


def test_counts_without_room_for_noise_are_refused() -> None:
    for wrong in (2**62 + 1, -(2**62) - 1):
        with pytest.raises(ValueError, match="room"):
            noisy_counts(randomness(1), np.array([1, wrong]), epsilon=Fraction(1))
    assert noisy_counts(randomness(1), np.array([], dtype=np.int64), epsilon=Fraction(1)).tolist() == []


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_variance_and_widths_are_those_of_the_formula(scale: Fraction) -> None:
    reach = int(60 * scale) + 5
    values = np.arange(-reach, reach + 1)
    shares = stats.dlaplace.pmf(values, 1 / float(scale))
    assert math.isclose(variance(scale), float((shares * values**2).sum()), rel_tol=1e-9)
    for confidence in (0.01, 0.5, 0.9, 0.95, 0.999):
        width = half_width(scale, confidence)
        assert shares[np.abs(values) <= width].sum() >= confidence - 1e-12
        assert width == 0 or shares[np.abs(values) <= width - 1].sum() < confidence


def test_the_variance_of_next_to_no_noise_is_zero() -> None:
    assert variance(Fraction(1, 10**6)) == 0


@pytest.mark.parametrize("wrong", [0, 1, -0.5, 2, float("nan")])
def test_a_confidence_is_between_zero_and_one(wrong: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        half_width(Fraction(1), wrong)

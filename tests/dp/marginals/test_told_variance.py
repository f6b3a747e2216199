"""How wrong a made column is told to be, from public counts alone."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.dp.marginals.agreement import Agreement, Marginals
from incrowd.dp.marginals.told_variance import ColumnNoise, WideNoise, told_noise

TRUE = np.array([5000, 900, 60, 20, 10, 5, 3, 2])
ALONE = WideNoise(np.arange(8), np.full(8, 200.0))


@pytest.mark.parametrize("ordered", [False, True])
def test_rows_that_are_near_have_most_of_the_noise_and_others_what_they_are_off(ordered: bool) -> None:
    rng = np.random.default_rng(1)
    near, off = [], []
    biased = TRUE + np.array([-400, 0, 80, 80, 80, 80, 80, 0])
    for _ in range(30):
        noisy = (TRUE + np.rint(rng.laplace(scale=10, size=len(TRUE))).astype(np.int64))[:, None]
        near.append(told_noise(noisy, np.maximum(noisy, 0)[:, 0], 200.0, ALONE, ordered=ordered).of(1, 8))
        off.append(told_noise(noisy, biased, 200.0, ALONE, ordered=ordered).of(1, 8))
    assert 130 <= np.mean(near) <= 260
    # Most questions are about the first value, of which 400 rows are missing: one of eight counts, or several of them.
    assert 0.2 * 400**2 < np.mean(off) < 1.5 * 400**2


def test_columns_of_one_value_or_no_rows_have_their_noise() -> None:
    one = WideNoise(np.zeros(1, dtype=np.int64), np.array([3.0]))
    assert told_noise(np.array([[7]]), np.array([9]), 3.0, one, ordered=False) == ColumnNoise(3.0)
    two = WideNoise(np.arange(2), np.full(2, 3.0))
    assert told_noise(np.array([[-2], [1]]), np.array([0, 0]), 3.0, two, ordered=True) == ColumnNoise(3.0)


def test_noise_of_wide_cells_is_that_of_least_squares() -> None:
    """The variance that is told of any question is what the estimates of a tree of pairs have, over many draws."""
    rng = np.random.default_rng(2)
    own, of_pair = np.array([50.0, 50.0, 150.0]), 30.0
    agreement = Agreement([(0, 1)], [own, np.array([50.0, 50.0])], of_pair)
    draws = []
    for _ in range(4000):
        singles = [rng.normal(0, np.sqrt(own))[:, None], rng.normal(0, np.sqrt(50), (2, 1))]
        draws.append(agreement.nearest(Marginals(singles, [rng.normal(0, np.sqrt(of_pair), (3, 2, 1))])).singles[0])
    found = np.stack(draws)[:, :, 0]
    asked = np.array([[1.0, 0, 0], [0, 0, 1], [1, 0, 1]])
    wide = WideNoise(np.arange(3), agreement.wide_variances(0))
    freedom = float(wide.variances.sum())
    of_all = agreement.total_variance * (asked @ wide.variances / freedom) ** 2
    assert found.sum(axis=1).var() == pytest.approx(agreement.total_variance, rel=0.1)
    assert wide.of(asked, 0.0) + of_all == pytest.approx((found @ asked.T).var(axis=0), rel=0.1)


def test_long_ranges_have_less_noise_than_their_values_alone() -> None:
    """Wide cells are counted again, far better: the middle of a range is known, and its ends are not."""
    rng = np.random.default_rng(3)
    true, wide_of = np.full(60, 500), np.repeat(np.arange(6), 10)
    noisy = true + np.rint(rng.laplace(scale=10, size=60)).astype(np.int64)
    best = np.bincount(wide_of, weights=true).astype(np.float64)[:, None]
    wide = WideNoise(wide_of, np.full(6, 1.0), best)
    made = np.rint(wide.moved(noisy[:, None])[:, 0]).astype(np.int64)
    told = told_noise(noisy[:, None], made, 200.0, wide, ordered=True)
    assert told.width > 0
    assert told.of(30, 60) < 0.3 * 200 * 30 * 0.5
    assert told.of(2, 60) > 0.5 * 200 * 2
    assert told.of_codes(60, 120).of(60, 120) == pytest.approx(told.of(30, 60))

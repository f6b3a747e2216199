"""Noise is taken off where neighbours are alike, and only there."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.dp.synthesis.smoothing import smoothed


def risk(true: np.ndarray, deviation: float, runs: int = 20) -> tuple[float, float]:
    """Return the mean absolute error before and after."""
    rng = np.random.default_rng(1)
    before, after = [], []
    for _ in range(runs):
        noisy = true + rng.normal(scale=deviation, size=true.shape)
        before.append(np.abs(noisy - true).mean())
        after.append(np.abs(smoothed(noisy, deviation**2) - true).mean())
    return float(np.mean(before)), float(np.mean(after))


def test_a_smooth_column_loses_most_of_its_noise() -> None:
    ages = 100 * np.exp(-(((np.arange(90) - 40) / 25) ** 2))
    before, after = risk(ages[:, None], 20)
    assert after < 0.5 * before


def test_a_column_of_jumps_is_not_made_worse() -> None:
    jumps = np.random.default_rng(2).integers(0, 2, size=60) * 1000.0
    before, after = risk(jumps[:, None], 20)
    assert after < 1.05 * before


def test_what_stands_out_stays() -> None:
    hours = np.full((80, 1), 30.0)
    hours[40] = 5000
    rng = np.random.default_rng(3)
    found = smoothed(hours + rng.normal(scale=20, size=hours.shape), 400)
    assert found[40, 0] == pytest.approx(5000, abs=80)
    assert np.abs(found - hours).mean() < 10


@pytest.mark.parametrize("cells", [0, 1, 7, 5000])
def test_few_cells_or_far_too_many_are_left_alone(cells: int) -> None:
    noisy = np.random.default_rng(4).normal(size=(cells, 2))
    assert smoothed(noisy, 1.0) is noisy


def test_sums_stay_and_classes_are_smoothed_alike() -> None:
    noisy = np.random.default_rng(5).normal(scale=10, size=(50, 3))
    np.testing.assert_allclose(smoothed(noisy, 100.0).sum(axis=0), noisy.sum(axis=0), atol=1e-6)
    assert smoothed(noisy, 0.0) is noisy

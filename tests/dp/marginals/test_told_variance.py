"""How wrong a made column is told to be, from public counts alone."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.dp.marginals.told_variance import told_variance

TRUE = np.array([5000, 900, 60, 20, 10, 5, 3, 2])


@pytest.mark.parametrize("ordered", [False, True])
def test_rows_that_are_near_have_most_of_the_noise_and_others_what_they_are_off(ordered: bool) -> None:
    rng = np.random.default_rng(1)
    near, off = [], []
    biased = TRUE + np.array([-400, 0, 80, 80, 80, 80, 80, 0])
    for _ in range(30):
        noisy = TRUE + np.rint(rng.laplace(scale=10, size=len(TRUE))).astype(np.int64)
        near.append(told_variance(noisy, np.maximum(noisy, 0), 200.0, ordered=ordered))
        off.append(told_variance(noisy, biased, 200.0, ordered=ordered))
    assert 160 <= np.mean(near) <= 260
    # Most questions are about the first value, of which 400 rows are missing: one of eight counts, or several of them.
    assert 0.2 * 400**2 < np.mean(off) < 1.5 * 400**2


def test_columns_of_one_value_or_no_rows_have_their_noise() -> None:
    assert told_variance(np.array([7]), np.array([9]), 3.0, ordered=False) == 3.0
    assert told_variance(np.array([-2, 1]), np.array([0, 0]), 3.0, ordered=True) == 3.0

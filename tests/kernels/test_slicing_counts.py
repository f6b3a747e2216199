"""Counts of buckets, against the same sums by NumPy and Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

from incrowd.kernels.slicing_counts import count_in_buckets


@pytest.mark.parametrize("seed", range(6))
def test_counts_are_those_of_exact_sums(seed: int) -> None:
    dice = np.random.default_rng(seed)
    parts, buckets, values = 400, 90, (5, 7, 3)
    codes = np.stack([dice.integers(0, size, parts) for size in values]).astype(np.int32)
    counts, bucket_of = dice.integers(1, 10 ** (1 + 2 * seed), parts), dice.integers(0, buckets, parts)
    sizes = np.bincount(bucket_of, counts, buckets).astype(np.int64)
    shares = [np.where(dice.random(size) < 0.3, 0.0, dice.random(size)) for size in values]
    asked = [[(0, shares[0]), (2, shares[2])], [(1, shares[1])]]
    estimate = sizes.astype(np.float64)
    for column in asked:
        fits = np.prod([share[codes[place]] for place, share in column], axis=0)
        rows = np.round(fits * counts * 2.0**24) / 2.0**24
        estimate *= np.bincount(bucket_of, rows, buckets) / np.maximum(sizes, 1)
    assert count_in_buckets(codes, counts, bucket_of, sizes, asked) == math.fsum(estimate)
    assert count_in_buckets(codes, counts, bucket_of, sizes, []) == counts.sum()

"""What clusters span, and which are nearest: any number of threads finds the same."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.common.threads import using
from incrowd.kernels.clustering import box_clusters, nearest_clusters

POINTS, CLUSTERS = 12_000, 2_000
STARTS = np.array([0, 2, 3])
"""Two columns of names, the first with a level between value and root."""


@pytest.mark.parametrize("threads", [2, 5])
def test_boxes_and_their_nearest_are_the_same_with_threads(threads: int) -> None:
    rng = np.random.default_rng(0)
    numbers = rng.random((POINTS, 3))
    numbers[rng.random(numbers.shape) < 0.05] = np.nan
    values = rng.integers(0, 12, POINTS)
    paths = np.stack([values, 12 + values // 4, 20 + rng.integers(0, 3, POINTS)], axis=1).astype(np.int32)
    counts = rng.integers(1, 4, POINTS)
    cluster_of = rng.permutation(np.arange(POINTS) % CLUSTERS)
    failing = np.flatnonzero(rng.random(CLUSTERS) < 0.2)
    found = []
    for number in (1, threads):
        with using(number):
            boxes = box_clusters(numbers, paths, STARTS, counts, cluster_of, CLUSTERS)
            found.append([*boxes, *nearest_clusters(paths, STARTS, boxes, failing, 500)])
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other, equal_nan=True)
    low, high, _, member, _, rows = found[0][:6]
    assert np.array_equal(rows, np.bincount(cluster_of, weights=counts))
    assert np.array_equal(cluster_of[member], np.arange(CLUSTERS))
    whole = np.isfinite(numbers[cluster_of == 7]).all(axis=0)
    assert np.array_equal(low[7][whole], numbers[cluster_of == 7].min(axis=0)[whole])
    assert np.array_equal(high[7][whole], numbers[cluster_of == 7].max(axis=0)[whole])

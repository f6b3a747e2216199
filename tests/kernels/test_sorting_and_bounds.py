"""Loops that threads share: items sorted by a key, and the least and greatest codes of groups."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from incrowd.common.threads import using
from incrowd.kernels.regions import bounds
from incrowd.kernels.slicing_index import sort_by_key

THREADS = [1, 2, 3, 7]


@pytest.mark.parametrize("size", [1, 2, 40, 60_000])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_items_are_sorted_by_their_keys_and_equal_ones_keep_their_order(
    size: int, kind: type[np.signedinteger]
) -> None:
    rng = np.random.default_rng(size)
    keys = rng.integers(0, size, 250_000).astype(kind)
    order = rng.permutation(len(keys))[:240_001]
    expected = order[np.argsort(keys[order], kind="stable")]
    for threads in THREADS:
        with using(threads):
            assert np.array_equal(sort_by_key(order, keys, size), expected)


@pytest.mark.parametrize("threads", THREADS)
def test_few_items_and_none_are_sorted(threads: int) -> None:
    with using(threads):
        assert sort_by_key(np.array([2, 0, 1]), np.array([1, 0, 1]), 2).tolist() == [1, 2, 0]
        assert not len(sort_by_key(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), 0))


@cache
def bounded(groups: int) -> tuple[Any, ...]:
    """Rows in groups, and the least and the greatest codes of each, once for any number of threads."""
    rng = np.random.default_rng(groups)
    codes = rng.integers(0, 9, (1000, 3)).astype(np.int32)
    rows = rng.integers(0, len(codes), 120_000)
    group_of = np.concatenate([np.arange(groups), rng.integers(0, groups, len(rows) - groups)])
    least, greatest = np.full((groups, 3), 9), np.full((groups, 3), -1)
    np.minimum.at(least, group_of, codes[rows])
    np.maximum.at(greatest, group_of, codes[rows])
    return codes, rows, group_of, least, greatest


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("groups", [1, 3, 50_000])
def test_bounds_are_the_least_and_the_greatest_codes_of_each_group(threads: int, groups: int) -> None:
    codes, rows, group_of, least, greatest = bounded(groups)
    with using(threads):
        lows, ends = bounds(codes, rows, group_of, groups)
    assert np.array_equal(lows, least)
    assert np.array_equal(ends, greatest + 1)

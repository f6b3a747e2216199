"""Fit a small table to what is known of pairs of its axes (iterative proportional fitting).

The loop is in `native/raking.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incrowd.common.arrays import Floats


def rake(table: Floats, pairs: Sequence[tuple[int, int]], wanted: Sequence[Floats], rounds: int, tiny: float) -> Floats:
    """Return a table such that the sums over all axes but two, pair by pair, come to what is wanted of them.

    Each round moves the cells of every pair by one factor for each of its sums; sums below `tiny` are taken for that.
    """
    raked = np.array(table, dtype=np.float64, order="C")
    known = np.concatenate([each.ravel() for each in wanted]).astype(np.float64)
    call(
        "rake",
        raked.reshape(-1),
        np.array(table.shape, dtype=np.int64),
        np.array(pairs, dtype=np.int64),
        known,
        rounds,
        tiny,
    )
    return raked

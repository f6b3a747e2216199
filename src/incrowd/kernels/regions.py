"""The least and the greatest code of each group, column by column. The loop is in `native/regions.cpp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.common.threads import threads
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Codes, Ints


def bounds(codes: Codes, rows: Ints, group_of: Ints, groups: int) -> tuple[Codes, Codes]:
    """Return the lowest code of each group, and one more than its highest; item i is row `rows[i]` of `codes`."""
    shape = (groups, codes.shape[1])
    lows, highs = np.full(shape, np.iinfo(np.int32).max, dtype=np.int32), np.zeros(shape, dtype=np.int32)
    call("bounds_of_groups", np.ascontiguousarray(codes), rows, group_of, lows, highs, threads())
    return lows, highs

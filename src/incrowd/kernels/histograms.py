"""Count the values of each group, without the zeros. The loop is in `native/histograms.cpp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Codes, Ints


def count_values(group_of: Ints, codes: Codes, counts: Ints, groups: int) -> tuple[Ints, Codes, Ints]:
    """Return where each group's entries start, and their codes in ascending order with the sums of their counts."""
    offsets = np.zeros(groups + 1, dtype=np.int64)
    values, totals = np.empty(len(codes), dtype=np.int32), np.empty(len(codes), dtype=np.int64)
    used = call("count_by_group", group_of, np.ascontiguousarray(codes), counts, offsets, values, totals)
    return offsets, values[:used].copy(), totals[:used].copy()

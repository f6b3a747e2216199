"""The least and the greatest code of each group, column by column."""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled


@compiled
def bounds(codes, rows, group_of, groups):
    """Return the lowest code of each group, and one more than its highest; item i is row `rows[i]` of `codes`."""
    columns = codes.shape[1]
    lows = np.full((groups, columns), np.iinfo(np.int32).max, dtype=np.int32)
    highs = np.zeros((groups, columns), dtype=np.int32)
    for item in range(len(rows)):
        row, group = rows[item], group_of[item]
        for column in range(columns):
            code = codes[row, column]
            lows[group, column] = min(lows[group, column], code)
            highs[group, column] = max(highs[group, column], code + 1)
    return lows, highs

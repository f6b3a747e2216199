"""How many different things are in windows of a list: an entry counts where the one before it of its kind is outside.

Cost: the length of all windows together.
"""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled


@compiled
def firsts_in_windows(earlier, starts, ends):
    """Return, for each window, how many of its entries have no earlier one of their kind in it.

    `earlier[i]` is the place of the entry of the same kind before entry i, or -1.
    """
    found = np.zeros(len(starts), dtype=np.int64)
    for window in range(len(starts)):
        start = starts[window]
        for entry in range(start, ends[window]):
            if earlier[entry] < start:
                found[window] += 1
    return found

"""How many different things are in windows of a list: an entry counts where the one before it of its kind is outside.

Cost: the length of all windows together. The loop is in `native/windows.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Counts, Ints


def firsts_in_windows(earlier: Ints, starts: Ints, ends: Ints) -> Counts:
    """Return, for each window, how many of its entries have no earlier one of their kind in it.

    `earlier[i]` is the place of the entry of the same kind before entry i, or -1.
    """
    found = np.empty(len(starts), dtype=np.int64)
    call("firsts_in_windows", earlier, starts, ends, found)
    return found

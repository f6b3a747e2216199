"""Partners for swaps: everybody takes one of those ahead, not too far, who have none yet; each of them is as likely.

A tree of counts tells how many ahead are free, and finds the one that chance picks: n log n steps for n people. The
loop is in `native/rank_swapping.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Floats, Ints


def swap_near(even: Floats, reach: int) -> Ints:
    """Return whose value each place gets, itself where nobody was left; `even` is one number below 1 for each."""
    partner = np.arange(len(even), dtype=np.int64)
    call("swap_near", even, reach, partner)
    return partner

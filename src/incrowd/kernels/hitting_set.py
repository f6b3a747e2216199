"""Cheap elements that hit every one of many small combinations: greedy by cost per combination, then without excess.

The greedy choice costs at most ln(n) times the optimum for n combinations (Chvátal 1979). The loop is in
`native/hitting_set.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Bools, Codes, Floats


def hit_all(combinations: Codes, costs: Floats) -> Bools:
    """Return which elements to take so that every combination has one; `costs` are those of the elements."""
    taken = np.zeros(len(costs), dtype=np.bool_)
    call("hit_all", combinations, costs, taken)
    return taken

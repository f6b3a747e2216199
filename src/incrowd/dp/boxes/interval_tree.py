"""All intervals of a column's codes that some are cut into, again and again, down to single codes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from incrowd.dp.boxes.box_cuts import Run
from incrowd.hierarchies.tree import MISSING


def interval_tree(size: int, branches: int, *, missing: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the parent of each interval and its run of codes, from all values down to single ones."""
    runs: list[Run] = [(MISSING if missing else 1, size)]
    parents = [-1]
    place = 0
    while place < len(runs):
        low, high = runs[place]
        if low == MISSING and high > 1:
            parts = [(MISSING, 1), (1, high)]
        else:
            ends = np.unique(low + np.arange(branches + 1) * (high - low) // branches).tolist()
            parts = list(pairwise(ends)) if high - low > 1 else []
        runs.extend(parts)
        parents.extend([place] * len(parts))
        place += 1
    return np.array(parents, dtype=np.int64), np.array(runs, dtype=np.int64)

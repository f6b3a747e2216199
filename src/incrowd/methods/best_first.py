"""A search for a good level vector in a lattice too large to hold: the best found so far is there at any time.

From the top down, the vector that loses least of those looked at is the next whose more specific neighbours are looked
at, unless nothing below it can be any better (`lattice_evaluation.py`). That is a greedy descent first, then an ever
wider search around what it found. Left alone it ends, and what it then has is the best of all. Cost: the vectors looked
at, and some bytes for each of them.
"""

from __future__ import annotations

import heapq

import numpy as np

from incrowd.common.progress import Progress
from incrowd.methods.deadline import Deadline
from incrowd.methods.lattice_evaluation import LatticeEvaluation


def search_best_first(
    search: LatticeEvaluation, deadline: Deadline, progress: Progress, *, most_looks: int | None = None
) -> bool:
    """Look for the best vector; return whether it is proven, or time or looks ran out before."""
    lowest = tuple(allowed.start for allowed in search.lattice.levels)
    top = tuple(allowed.stop - 1 for allowed in search.lattice.levels)
    least = search.bound(lowest)
    seen = {top}
    queue: list[tuple[float, tuple[int, ...], float]] = []

    def visit(levels: tuple[int, ...], added: float) -> None:
        """Look at a vector, unless it cannot win; queue it, unless nothing below can."""
        bound = search.bound(levels)
        if bound + added > search.to_beat:
            heapq.heappush(queue, (bound + added, levels, added))
            return
        look = search.look(np.array(levels, dtype=np.int8), bound)
        if look.withheld_below <= search.most_withheld:
            heapq.heappush(queue, (look.cost, levels, max(added, look.added_below)))

    visit(top, 0.0)
    while queue:
        _, levels, added = heapq.heappop(queue)
        if least + added > search.to_beat:
            continue
        for column, level in enumerate(levels):
            below = (*levels[:column], level - 1, *levels[column + 1 :])
            if level == lowest[column] or below in seen:
                continue
            if deadline.passed() or (most_looks is not None and len(search.looks) >= most_looks):
                return False
            seen.add(below)
            visit(below, added)
        progress("searching", 1.0 - len(queue) / len(seen))
    return True

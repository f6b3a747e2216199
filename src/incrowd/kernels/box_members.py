"""Which points lie in which boxes, pair by pair.

Each box looks only through the points of its most selective column, the one of whose run of codes the fewest points
are. Cost: for each box, as many points as that; the pairs that are found are held in memory. The loops are in
`native/box_members.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Codes, Ints


def sort_by_code(points: Codes, sizes: Ints) -> tuple[Ints, Ints]:
    """Return, for each column, the points in the order of their codes, and where each code starts."""
    many, columns = points.shape
    order = np.empty((columns, many), dtype=np.int64)
    starts = np.zeros((columns, int(sizes.max()) + 1 if columns else 1), dtype=np.int64)
    call("sort_by_code", np.ascontiguousarray(points), order, starts)
    return order, starts


def members_of_boxes(lows: Codes, highs: Codes, points: Codes, order: Ints, starts: Ints, offsets: Ints) -> Ints:
    """Return the points of each box, box after box; box b has `offsets[b]:offsets[b + 1]` of them."""
    found = np.empty(offsets[len(lows)], dtype=np.int64)
    call("members_of_boxes", lows, highs, np.ascontiguousarray(points), order, starts, offsets, found)
    return found

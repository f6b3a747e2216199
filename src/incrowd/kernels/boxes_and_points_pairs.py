"""Which boxes hold each point, one by one. Boxes and points are as in `boxes_and_points.py`, and so is the way.

Cost: as there, and one step for each pair of a point and a box that holds it. The loop is in
`native/boxes_and_points_pairs.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.boxes_and_points import FEW, side_by_side
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from incrowd.common.arrays import Ints


def boxes_of_points(lows: ArrayLike, highs: ArrayLike, points: ArrayLike) -> tuple[Ints, Ints]:
    """Return the boxes that hold each point: where each point's begin, and the boxes in ascending order.

    >>> offsets, boxes = boxes_of_points([[0, 0], [1, 0]], [[2, 2], [3, 1]], [[1, 0], [0, 1], [2, 1]])
    >>> offsets.tolist(), boxes.tolist()
    ([0, 2, 3, 3], [0, 1, 0])
    """
    places = np.ascontiguousarray(points, dtype=np.int32)
    found_points, found_boxes = call("pair_boxes_and_points", side_by_side(lows, highs), places, FEW)
    order = np.lexsort((found_boxes, found_points))
    offsets = np.concatenate(([0], np.cumsum(np.bincount(found_points, minlength=len(places)))))
    return offsets.astype(np.int64), found_boxes[order].astype(np.int64)

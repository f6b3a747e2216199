"""Which boxes hold each point, one by one. Boxes and points are as in `boxes_and_points.py`, and so is the way.

Cost: as there, and one step for each pair of a point and a box that holds it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from incrowd.kernels.boxes_and_points import _FEW, _choose_cut, _compare, _enclose, _is_in, _part, _side_by_side
from incrowd.kernels.compiling import compiled


def boxes_of_points(
    lows: ArrayLike, highs: ArrayLike, points: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the boxes that hold each point: where each point's begin, and the boxes in ascending order.

    >>> offsets, boxes = boxes_of_points([[0, 0], [1, 0]], [[2, 2], [3, 1]], [[1, 0], [0, 1], [2, 1]])
    >>> offsets.tolist(), boxes.tolist()
    ([0, 2, 3, 3], [0, 1, 0])
    """
    places = np.ascontiguousarray(points, dtype=np.int32)
    found_points, found_boxes = _pairs(_side_by_side(lows, highs), places)
    order = np.lexsort((found_boxes, found_points))
    offsets = np.concatenate(([0], np.cumsum(np.bincount(found_points, minlength=len(places)))))
    return offsets.astype(np.int64), found_boxes[order].astype(np.int64)


@compiled
def _pairs(boxes, given_points):
    """Return all pairs of a point and a box that holds it, in no order.

    A part of the points carries two lists: boxes that hold all of it, and boxes that meet it. Both are stacks, each
    part's after those of the part that it comes from.
    """
    columns = given_points.shape[1]
    points, order = given_points.copy(), np.arange(len(given_points))
    carried, held = np.arange(len(boxes), dtype=np.int32), np.empty(len(boxes) + 1, dtype=np.int32)
    waiting = np.empty((64, 5), dtype=np.int64)
    waiting[0, 0], waiting[0, 1], waiting[0, 2], waiting[0, 3], waiting[0, 4] = 0, len(points), 0, len(boxes), 0
    parts = 1 if len(points) and len(boxes) else 0
    hull_low, hull_high = np.empty(columns, dtype=np.int32), np.empty(columns, dtype=np.int32)
    found_points, found_boxes = np.empty(1024, dtype=np.int32), np.empty(1024, dtype=np.int32)
    found = 0
    while parts:
        parts -= 1
        first, last, list_first, list_last, held_last = waiting[parts]
        _enclose(points[first:last], hull_low, hull_high)
        room = 2 * list_last - list_first
        if room > len(carried):
            carried = np.concatenate((carried, np.empty(room, dtype=np.int32)))
        top = list_last
        for place in range(list_first, list_last):
            box = carried[place]
            meets, holds = _compare(boxes[box], hull_low, hull_high)
            if holds:
                held[held_last] = box
                held_last += 1
            elif meets:
                carried[top] = box
                top += 1
        left_over = carried[list_last:top]
        if (last - first) * len(left_over) <= _FEW:
            while found + (last - first) * (held_last + len(left_over)) > len(found_points):
                found_points = np.concatenate((found_points, np.empty_like(found_points)))
                found_boxes = np.concatenate((found_boxes, np.empty_like(found_boxes)))
            for place in range(first, last):
                for box in held[:held_last]:
                    found_points[found], found_boxes[found] = order[place], box
                    found += 1
                for box in left_over:
                    if _is_in(points[place], boxes[box]):
                        found_points[found], found_boxes[found] = order[place], box
                        found += 1
            continue
        column, cut = _choose_cut(points[first:last], boxes, left_over, hull_low, hull_high)
        middle = first + _part(points[first:last], order[first:last], column, cut)
        if parts + 2 > len(waiting):
            waiting = np.concatenate((waiting, np.empty_like(waiting)))
        for start, end in ((middle, last), (first, middle)):
            waiting[parts, 0], waiting[parts, 1] = start, end
            waiting[parts, 2], waiting[parts, 3], waiting[parts, 4] = list_last, top, held_last
            parts += 1
    return found_points[:found], found_boxes[:found]

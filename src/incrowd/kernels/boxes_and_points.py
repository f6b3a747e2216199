"""Which boxes hold which points: sums over the boxes around each point, and over the points in each box.

A box is a product of runs of codes, `lows[b, j]` to `highs[b, j]` in column j, the latter not included; boxes may
overlap, and so they do in local recoding. The points are divided in two again and again. Each part carries the boxes
that may hold some of its points and not others: a box that meets none of them is dropped, a box that holds all of them
is counted for all at once, and what is left goes on to both halves. Where little is left, each point is tried with each
box.

Cost: for m points and g boxes that hardly overlap, about (m + g)·log g steps per column. Boxes that do overlap cost a
step for each part that they cut through, not for each point that they hold; at worst (thousands of boxes, each within
the next) as much as trying everything. Memory: a copy of the points, and the boxes on the way down. The loops are
in `native/boxes_and_points.hpp` and `native/boxes_and_points.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from incrowd.common.arrays import Codes, Floats, Ints

FEW = 1024
"""So many pairs of a point and a box are tried one by one."""


def sum_of_boxes_at_points(lows: ArrayLike, highs: ArrayLike, box_weights: ArrayLike, points: ArrayLike) -> Floats:
    """Return, for each point, the sum of the weights of all boxes that hold it.

    >>> sum_of_boxes_at_points([[0, 0], [1, 0]], [[2, 2], [3, 1]], [0.5, 2.0], [[1, 0], [0, 1], [2, 1]]).tolist()
    [2.5, 0.5, 0.0]
    """
    places = np.ascontiguousarray(points, dtype=np.int32)
    weights = np.ascontiguousarray(box_weights, dtype=np.float64)
    at_points, _ = divide(side_by_side(lows, highs), weights, places, np.ones(len(places), dtype=np.int64))
    return at_points


def points_in_boxes(lows: ArrayLike, highs: ArrayLike, points: ArrayLike, point_weights: ArrayLike) -> Ints:
    """Return, for each box, the sum of the weights of all points in it.

    >>> points_in_boxes([[0, 0], [1, 0]], [[2, 2], [3, 1]], [[1, 0], [0, 1], [2, 1]], [10, 1, 5]).tolist()
    [11, 10]
    """
    boxes = side_by_side(lows, highs)
    weights = np.ascontiguousarray(point_weights, dtype=np.int64)
    _, in_boxes = divide(boxes, np.ones(len(boxes)), np.ascontiguousarray(points, dtype=np.int32), weights)
    return in_boxes


def side_by_side(lows: ArrayLike, highs: ArrayLike) -> Codes:
    """Return each box's lows and highs in one row, since they are read together."""
    both = np.concatenate([np.asarray(lows, dtype=np.int32), np.asarray(highs, dtype=np.int32)], axis=1)
    return np.ascontiguousarray(both)


def divide(
    boxes: Codes, box_weights: Floats, points: Codes, point_weights: Ints, *, few: int = FEW
) -> tuple[Floats, Ints]:
    """Return the weight of the boxes at each point, and of the points in each box."""
    at_points, in_boxes = np.zeros(len(points)), np.zeros(len(boxes), dtype=np.int64)
    call("sum_boxes_and_points", boxes, box_weights, points, point_weights, few, at_points, in_boxes)
    return at_points, in_boxes

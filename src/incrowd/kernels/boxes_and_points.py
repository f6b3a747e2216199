"""Which boxes hold which points: sums over the boxes around each point, and over the points in each box.

A box is a product of runs of codes, `lows[b, j]` to `highs[b, j]` in column j, the latter not included; boxes may
overlap, and so they do in local recoding. The points are divided in two again and again. Each part carries the boxes
that may hold some of its points and not others: a box that meets none of them is dropped, a box that holds all of them
is counted for all at once, and what is left goes on to both halves. Where little is left, each point is tried with each
box.

Cost: for m points and g boxes that hardly overlap, about (m + g)·log g steps per column. Boxes that do overlap cost a
step for each part that they cut through, not for each point that they hold; at worst (thousands of boxes, each within
the next) as much as trying everything. Memory: a copy of the points, and the boxes on the way down.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from incrowd.kernels.compiling import compiled

_FEW = 1024
"""So many pairs of a point and a box are tried one by one."""

_SAMPLE = 32
"""A part is divided by what this many of its points and boxes say."""


def sum_of_boxes_at_points(
    lows: ArrayLike, highs: ArrayLike, box_weights: ArrayLike, points: ArrayLike
) -> NDArray[np.float64]:
    """Return, for each point, the sum of the weights of all boxes that hold it.

    >>> sum_of_boxes_at_points([[0, 0], [1, 0]], [[2, 2], [3, 1]], [0.5, 2.0], [[1, 0], [0, 1], [2, 1]]).tolist()
    [2.5, 0.5, 0.0]
    """
    places = np.ascontiguousarray(points, dtype=np.int32)
    weights = np.ascontiguousarray(box_weights, dtype=np.float64)
    at_points, _ = _divide(_side_by_side(lows, highs), weights, places, np.ones(len(places), dtype=np.int64))
    sums: NDArray[np.float64] = at_points
    return sums


def points_in_boxes(
    lows: ArrayLike, highs: ArrayLike, points: ArrayLike, point_weights: ArrayLike
) -> NDArray[np.int64]:
    """Return, for each box, the sum of the weights of all points in it.

    >>> points_in_boxes([[0, 0], [1, 0]], [[2, 2], [3, 1]], [[1, 0], [0, 1], [2, 1]], [10, 1, 5]).tolist()
    [11, 10]
    """
    boxes = _side_by_side(lows, highs)
    weights = np.ascontiguousarray(point_weights, dtype=np.int64)
    _, in_boxes = _divide(boxes, np.ones(len(boxes)), np.ascontiguousarray(points, dtype=np.int32), weights)
    sums: NDArray[np.int64] = in_boxes
    return sums


def _side_by_side(lows: ArrayLike, highs: ArrayLike) -> NDArray[np.int32]:
    """Return each box's lows and highs in one row, since they are read together."""
    both = np.concatenate([np.asarray(lows, dtype=np.int32), np.asarray(highs, dtype=np.int32)], axis=1)
    return np.ascontiguousarray(both)


@compiled
def _divide(boxes, box_weights, given_points, point_weights):
    """Return the weight of the boxes at each point, and of the points in each box."""
    columns = given_points.shape[1]
    at_points, in_boxes = np.zeros(len(given_points)), np.zeros(len(boxes), dtype=np.int64)
    points, order = given_points.copy(), np.arange(len(given_points))
    # `carried` is a stack of lists of boxes, each part's after that of the part that it comes from. A part that waits
    # is a range of points, the list of the part that it comes from, and the weight of boxes that hold it altogether.
    carried = np.arange(len(boxes), dtype=np.int32)
    waiting, held_weights = np.empty((64, 4), dtype=np.int64), np.zeros(64)
    waiting[0, 0], waiting[0, 1], waiting[0, 2], waiting[0, 3] = 0, len(points), 0, len(boxes)
    parts = 1 if len(points) and len(boxes) else 0
    hull_low, hull_high = np.empty(columns, dtype=np.int32), np.empty(columns, dtype=np.int32)
    while parts:
        parts -= 1
        first, last, list_first, list_last = waiting[parts]
        held_weight = held_weights[parts]
        part_weight = point_weights[order[first:last]].sum()
        _enclose(points[first:last], hull_low, hull_high)
        room = 2 * list_last - list_first
        if room > len(carried):
            carried = np.concatenate((carried, np.empty(room, dtype=np.int32)))
        top = list_last
        for place in range(list_first, list_last):
            box = carried[place]
            meets, holds = _compare(boxes[box], hull_low, hull_high)
            if holds:
                held_weight += box_weights[box]
                in_boxes[box] += part_weight
            elif meets:
                carried[top] = box
                top += 1
        left_over = carried[list_last:top]
        if (last - first) * len(left_over) <= _FEW:
            for place in range(first, last):
                at_points[order[place]] = held_weight
                for box in left_over:
                    if _is_in(points[place], boxes[box]):
                        at_points[order[place]] += box_weights[box]
                        in_boxes[box] += point_weights[order[place]]
            continue
        column, cut = _choose_cut(points[first:last], boxes, left_over, hull_low, hull_high)
        middle = first + _part(points[first:last], order[first:last], column, cut)
        if parts + 2 > len(waiting):
            waiting = np.concatenate((waiting, np.empty_like(waiting)))
            held_weights = np.concatenate((held_weights, np.empty_like(held_weights)))
        for start, end in ((middle, last), (first, middle)):
            waiting[parts, 0], waiting[parts, 1], waiting[parts, 2], waiting[parts, 3] = start, end, list_last, top
            held_weights[parts] = held_weight
            parts += 1
    return at_points, in_boxes


@compiled
def _enclose(points, hull_low, hull_high):
    """Write the smallest and the largest code of each column, both included."""
    hull_low[:] = points[0]
    hull_high[:] = points[0]
    for point in range(1, len(points)):
        for column in range(points.shape[1]):
            code = points[point, column]
            if code < hull_low[column]:
                hull_low[column] = code
            elif code > hull_high[column]:
                hull_high[column] = code


@compiled
def _compare(box, hull_low, hull_high):
    """Return whether a box meets a hull, and whether it holds all of it."""
    columns = len(hull_low)
    holds = True
    for column in range(columns):
        low, high = box[column], box[columns + column]
        if low > hull_high[column] or high <= hull_low[column]:
            return False, False
        if low > hull_low[column] or high <= hull_high[column]:
            holds = False
    return True, holds


@compiled
def _is_in(point, box):
    columns = len(point)
    for column in range(columns):
        code = point[column]
        if code < box[column] or code >= box[columns + column]:
            return False
    return True


@compiled
def _choose_cut(points, boxes, members, hull_low, hull_high):
    """Return a column and a code: points below it are divided from the others.

    Every column is tried at the middle one of its boxes' edges inside the hull; the best leaves the fewest pairs of a
    point and a box. Some box has such an edge, since all of them meet the hull and none holds it; and the hull being
    tight, there are points on both sides.
    """
    columns = points.shape[1]
    point_step = (len(points) + _SAMPLE - 1) // _SAMPLE
    box_step = (len(members) + _SAMPLE - 1) // _SAMPLE
    edges = np.empty(2 * _SAMPLE, dtype=np.int32)
    best_column, best_cut, least, most_edges = -1, np.int32(0), 0, 0
    for column in range(columns):
        found = 0
        for place in range(0, len(members), box_step):
            low, high = boxes[members[place], column], boxes[members[place], columns + column]
            if low > hull_low[column]:
                edges[found] = low
                found += 1
            if high <= hull_high[column]:
                edges[found] = high
                found += 1
        if not found:
            continue
        cut = np.sort(edges[:found])[found // 2]
        points_below, points_above, boxes_below, boxes_above = 0, 0, 0, 0
        for place in range(0, len(points), point_step):
            points_below += points[place, column] < cut
            points_above += points[place, column] >= cut
        for place in range(0, len(members), box_step):
            boxes_below += boxes[members[place], column] < cut
            boxes_above += boxes[members[place], columns + column] > cut
        pairs = points_below * boxes_below + points_above * boxes_above
        if best_column < 0 or pairs < least or (pairs == least and found > most_edges):
            best_column, best_cut, least, most_edges = column, cut, pairs, found
    return best_column, best_cut


@compiled
def _part(points, order, column, cut):
    """Put points below the cut before the others; return how many they are."""
    left, right = 0, len(points) - 1
    while True:
        while left <= right and points[left, column] < cut:
            left += 1
        while left <= right and points[right, column] >= cut:
            right -= 1
        if left > right:
            return left
        for place in range(points.shape[1]):
            points[left, place], points[right, place] = points[right, place], points[left, place]
        order[left], order[right] = order[right], order[left]

"""Which points lie in which boxes, pair by pair.

Each box looks only through the points of its most selective column, the one of whose run of codes the fewest points
are. Cost: for each box, as many points as that; the pairs that are found are held in memory.
"""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled


@compiled
def sort_by_code(points, sizes):
    """Return, for each column, the points in the order of their codes, and where each code starts."""
    many, columns = points.shape
    order = np.empty((columns, many), dtype=np.int64)
    starts = np.zeros((columns, sizes.max() + 1 if columns else 1), dtype=np.int64)
    for column in range(columns):
        for point in range(many):
            starts[column, points[point, column] + 1] += 1
        for code in range(1, starts.shape[1]):
            starts[column, code] += starts[column, code - 1]
        place = starts[column].copy()
        for point in range(many):
            code = points[point, column]
            order[column, place[code]] = point
            place[code] += 1
    return order, starts


@compiled
def members_of_boxes(lows, highs, points, order, starts, offsets):
    """Return the points of each box, box after box; box b has `offsets[b]:offsets[b + 1]` of them."""
    boxes, columns = lows.shape
    found = np.empty(offsets[boxes], dtype=np.int64)
    for box in range(boxes):
        best, fewest = 0, len(points) + 1
        for column in range(columns):
            here = starts[column, highs[box, column]] - starts[column, lows[box, column]]
            if here < fewest:
                best, fewest = column, here
        at = offsets[box]
        for place in range(starts[best, lows[box, best]], starts[best, highs[box, best]]):
            point = order[best, place]
            inside = True
            for column in range(columns):
                code = points[point, column]
                if code < lows[box, column] or code >= highs[box, column]:
                    inside = False
                    break
            if inside:
                found[at] = point
                at += 1
    return found

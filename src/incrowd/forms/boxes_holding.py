"""Which groups hold each person, where some columns are published as they are.

In a column in which each group shows one value, a person is found by looking that value up. Most groups are ruled out
by that alone, before the labels of the other columns are held against the person. Cost: a sort of people and groups by
these columns, and then that of `kernels/boxes_and_points_pairs.py` for those who are left.
"""

from __future__ import annotations

import numpy as np

from incrowd.common.arrays import Codes, Ints
from incrowd.core.tally import group_tuples
from incrowd.kernels.boxes_and_points_pairs import boxes_of_points


def boxes_holding(lows: Codes, highs: Codes, people: Codes) -> tuple[Ints, Ints]:
    """Return the boxes that hold each person: where each person's begin, and the boxes in ascending order.

    >>> offsets, boxes = boxes_holding(np.array([[0, 7], [1, 8]]), np.array([[2, 8], [3, 9]]), np.array([[1, 8]]))
    >>> offsets.tolist(), boxes.tolist()
    ([0, 1], [1])
    """
    exact = np.asarray((highs - lows == 1).all(axis=0))
    if not exact.any() or not len(lows) or not len(people):
        return boxes_of_points(lows, highs, people)
    of_boxes, of_people = _numbered(lows[:, exact], people[:, exact])
    boxes, some = np.flatnonzero(np.isin(of_boxes, of_people)), np.flatnonzero(np.isin(of_people, of_boxes))
    keys, key_of_people = of_boxes[boxes][:, None], of_people[some][:, None]
    lengths = np.zeros(len(people), dtype=np.int64)
    offsets, found = boxes_of_points(
        np.concatenate([lows[boxes][:, ~exact], keys], axis=1),
        np.concatenate([highs[boxes][:, ~exact], keys + 1], axis=1),
        np.concatenate([people[some][:, ~exact], key_of_people], axis=1),
    )
    lengths[some] = np.diff(offsets)
    return np.concatenate(([0], np.cumsum(lengths))), boxes[found]


def _numbered(boxes: Codes, people: Codes) -> tuple[Codes, Codes]:
    """Number the combinations of codes that boxes and people have, both by the same numbers."""
    both = np.concatenate([boxes, people])
    least = both.min(axis=0)
    numbers, _ = group_tuples(both - least, (both.max(axis=0) - least + 1).tolist())
    return numbers[: len(boxes)].astype(np.int32), numbers[len(boxes) :].astype(np.int32)

"""C4.5 (Quinlan 1993), the classifier of Qian, Song & Liang, on weighted rows.

Categories split into one branch per value, numbers in two at a threshold. Of the splits whose gain is at least average,
the one with the largest gain ratio is made; a threshold pays for having been chosen, as in release 8. Then subtrees are
replaced by leaves where the pessimistic estimate of errors (confidence 0.25) is not larger. Subtree raising and missing
values are left out: there are none here. Cost: a pass over the rows and the codes of each attribute, for each node.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Floats, Ints
from incrowd.common.keys import numbers_to_add
from incrowd.common.records import dataclass
from incrowd.kernels.decision_tree import grow_decision_tree
from incrowd.kernels.keys import number_keys

CONFIDENCE = 0.25
Z = NormalDist().inv_cdf(1 - CONFIDENCE)


@dataclass(frozen=True, eq=False)
class C45:
    """A decision tree that has been grown and pruned; `kernels.decision_tree` says what a node's numbers are."""

    splits: Ints
    branches: Ints
    counts: Floats

    @classmethod
    def fit(
        cls,
        codes: Codes,
        classes: NDArray[np.integer],
        weights: Floats,
        *,
        values: Sequence[Floats],
        numeric: Sequence[bool],
        kinds: int,
    ) -> C45:
        """Grow a tree on weighted rows.

        `numeric` says which columns are ordered; `values[column]` has the number that each code stands for, ascending
        where the column is ordered.
        """
        sizes = [len(column) for column in values]
        if codes.size and min(codes.min(), classes.min()) < 0:
            raise ValueError("codes and classes are numbers from 0 on")
        distinct, classes, weights = _together(codes, classes, weights, sizes, kinds)
        starts = np.cumsum([0, *sizes])
        every = np.concatenate([np.asarray(column, dtype=np.float64) for column in values])
        ordered = np.array(numeric, dtype=np.bool_)
        return cls(*grow_decision_tree(distinct, classes, weights, every, starts, ordered, kinds, CONFIDENCE, Z))

    def predict(self, codes: Codes) -> Ints:
        """Return the class of each row; a value that a node has not seen gets the node's own class."""
        reached = np.zeros(len(codes), dtype=np.int64)
        on_the_way = np.arange(len(codes))
        child_of = _Children.of(self.branches, codes)
        while len(on_the_way):
            column, last = self.splits[reached[on_the_way]].T
            inner = column >= 0
            on_the_way, column, last = on_the_way[inner], column[inner], last[inner]
            code = codes[on_the_way, column].astype(np.int64)
            following = child_of(reached[on_the_way], np.where(last >= 0, code > last, code))
            seen = following >= 0
            on_the_way = on_the_way[seen]
            reached[on_the_way] = following[seen]
        return np.asarray(self.counts.argmax(axis=1)[reached])


@dataclass(frozen=True, eq=False)
class _Children:
    """The child of a node by the branch that leads to it."""

    keys: Ints
    """Of every node but the root, ascending: nodes are made in the order of their parents, and of their branches."""
    room: int

    @classmethod
    def of(cls, branches: Ints, codes: Codes) -> _Children:
        """Take the branches of a tree, and the codes that it is asked about."""
        parents, led_by = branches[1:].T
        room = 1 + max(1, int(codes.max(initial=0)), int(led_by.max(initial=0)))
        return cls(parents * room + led_by, room)

    def __call__(self, nodes: Ints, branches: Ints) -> Ints:
        """Return each node's child, or -1."""
        if not len(self.keys):
            return np.full(len(nodes), -1)
        wanted = nodes * self.room + branches
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[place] == wanted, place + 1, -1)


def _together(
    codes: Codes, classes: NDArray[np.integer], weights: Floats, sizes: Sequence[int], kinds: int
) -> tuple[Codes, Codes, Floats]:
    """Add up the weights of rows that are equal."""
    *numbers, of_class = numbers_to_add([*sizes, kinds])
    keys = of_class[classes]
    with np.errstate(over="ignore"):
        for column, number in enumerate(numbers):
            keys += number[codes[:, column]]
    place, rows = number_keys(keys)
    first = np.empty(rows, dtype=np.int64)
    first[place[::-1]] = np.arange(len(keys) - 1, -1, -1)
    added = np.bincount(place, weights=weights, minlength=rows)
    return codes.take(first, axis=0), classes[first].astype(np.int32), added.astype(np.float64)

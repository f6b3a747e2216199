"""The tuples in the order of the boxes that specializations have made so far, for scores that look at the boxes.

Cost: sorting the tuples after each specialization, and one pass for each column that candidates are in.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from incrowd.common.arrays import Ints
from incrowd.dp.boxes.box_cuts import Run, Specialization
from incrowd.dp.boxes.coded_rows import People
from incrowd.dp.boxes.utilities import MOST_ROWS
from incrowd.errors import SchemaError
from incrowd.kernels.purity import gains_of_pieces, gains_of_points


class BoxPurity:
    """Who is in which box, and how much purer boxes would become."""

    def __init__(self, people: People) -> None:
        if int(people.counts.sum()) >= MOST_ROWS:
            raise SchemaError(
                'the utility "gini" takes up to two billion rows.  Hint: choose "max", or publish a sample.'
            )
        self._codes = np.ascontiguousarray(people.codes.T)
        self._classes, self._counts, self._class_count = people.classes, people.counts, people.class_count
        self._box_of = np.zeros(len(people.counts), dtype=np.int64)
        self._starts = np.array([0, len(people.counts)])

    def gains(self, candidates: Sequence[Specialization], sizes: Sequence[int]) -> Ints:
        """Return how much purer the pieces of all boxes are than the boxes, in units; candidates come by column."""
        found = []
        for column, group in groupby(candidates, key=lambda one: one.column):
            several = list(group)
            piece_of = np.full(sizes[column], -1, dtype=np.int64)
            run_of: list[int] = []
            for number, one in enumerate(several):
                for low, high in one.children:
                    piece_of[low:high] = len(run_of)
                    run_of.append(number)
            found.append(
                gains_of_pieces(
                    self._starts,
                    self._codes[column],
                    self._classes,
                    self._counts,
                    piece_of,
                    np.array(run_of),
                    len(several),
                    self._class_count,
                )
            )
        return np.concatenate(found)

    def gains_of_points(self, column: int, run: Run) -> Ints:
        """Return the same for splitting a run of numbers at each of its points."""
        return gains_of_points(self._starts, self._codes[column], self._classes, self._counts, *run, self._class_count)

    def split(self, chosen: Specialization) -> None:
        """Put everybody into the boxes after a specialization."""
        codes, (low, high) = self._codes[chosen.column], chosen.run
        inside = (codes >= low) & (codes < high)
        edges = np.array([child[0] for child in chosen.children[1:]])
        wide = self._box_of * len(chosen.children)
        wide[inside] += np.searchsorted(edges, codes[inside], side="right")
        order = np.argsort(wide, kind="stable")
        opens = np.diff(wide[order], prepend=-1) > 0
        self._box_of = np.cumsum(opens) - 1
        self._starts = np.append(np.flatnonzero(opens), len(order))
        self._codes = np.ascontiguousarray(self._codes[:, order])
        self._classes, self._counts = self._classes[order], self._counts[order]

"""The tuples in the order of the boxes that specializations have made so far, for scores that look at the boxes.

Cost: dealing out the tuples after each specialization, and one pass for each column that candidates are in.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby

import numpy as np

from incrowd.common.arrays import Ints
from incrowd.common.threads import do_together
from incrowd.dp.boxes.box_cuts import Run, Specialization
from incrowd.dp.boxes.coded_rows import People
from incrowd.dp.boxes.utilities import MOST_ROWS
from incrowd.errors import SchemaError
from incrowd.kernels.partition import sort_by_piece
from incrowd.kernels.purity import gains_of_pieces, gains_of_points


class BoxPurity:
    """Who is in which box, and how much purer boxes would become."""

    def __init__(self, people: People) -> None:
        if int(people.counts.sum()) >= MOST_ROWS:
            raise SchemaError(
                'the utility "gini" takes up to two billion rows.  Hint: choose "max", or publish a sample.'
            )
        self._codes = list(np.ascontiguousarray(people.codes.T))
        self._classes, self._counts, self._class_count = people.classes, people.counts, people.class_count
        self._box_of = np.zeros(len(people.counts), dtype=np.int64)
        self._starts = np.array([0, len(people.counts)])

    def gains(self, candidates: Sequence[Specialization], sizes: Sequence[int]) -> Ints:
        """Return how much purer the pieces of all boxes are than the boxes, in units; candidates come by column."""
        tasks = []
        for column, group in groupby(candidates, key=lambda one: one.column):
            several = list(group)
            piece_of = np.full(sizes[column], -1, dtype=np.int64)
            run_of: list[int] = []
            for number, one in enumerate(several):
                for low, high in one.children:
                    piece_of[low:high] = len(run_of)
                    run_of.append(number)
            tasks.append(
                partial(
                    gains_of_pieces,
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
        return np.concatenate(do_together(tasks, steps=len(tasks) * len(self._counts)))

    def gains_of_points(self, column: int, run: Run) -> Ints:
        """Return the same for splitting a run of numbers at each of its points."""
        return gains_of_points(self._starts, self._codes[column], self._classes, self._counts, *run, self._class_count)

    def split(self, chosen: Specialization) -> None:
        """Put everybody into the boxes after a specialization."""
        codes, children = self._codes[chosen.column], chosen.children
        piece_of = np.zeros(int(codes.max(initial=chosen.run[1])) + 1, dtype=np.int64)
        for piece, (low, high) in enumerate(children):
            piece_of[low:high] = piece
        wide = self._box_of * len(children) + piece_of.take(codes)
        order, starts = sort_by_piece(np.arange(len(wide)), wide, (len(self._starts) - 1) * len(children))
        sizes = np.diff(starts)
        sizes = sizes[sizes > 0]
        self._box_of = np.repeat(np.arange(len(sizes)), sizes)
        self._starts = np.concatenate([[0], np.cumsum(sizes)])
        columns = [*self._codes, self._classes, self._counts]
        *taken, self._classes, self._counts = do_together(
            [partial(np.take, column, order) for column in columns], steps=len(columns) * len(order)
        )
        self._codes = taken

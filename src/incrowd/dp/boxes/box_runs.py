"""The runs of codes that boxes have in each column: few, however many boxes there are.

What depends on one column is worked out for each run. What depends on some columns is worked out for each combination
of their runs, with the rows of all boxes that have it.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from incrowd.common.arrays import Codes, Floats, Ints, one_by_one
from incrowd.common.records import dataclass
from incrowd.kernels.keys import rank_keys

_TINY = 1e-9
_MOST_KEPT, _MOST_NUMBERS = 500, 2**15
"""So many sets of columns are kept, each with no more numbers than this: some 130 MB at most."""


@dataclass(frozen=True, eq=False)
class ColumnRuns:
    """The different runs of one column, from `lows` to before `highs`, and which of them each box has."""

    lows: Ints
    highs: Ints
    of_box: Codes

    @classmethod
    def of(cls, lows: Codes, highs: Codes) -> ColumnRuns:
        """Find the different runs of some boxes."""
        room = int(highs.max(initial=0)) + 1
        of_box, first = rank_keys(lows.astype(np.int64) * room + highs, room * room)
        return cls(lows[first].astype(np.int64), highs[first].astype(np.int64), of_box.astype(np.int32))

    def __len__(self) -> int:
        return len(self.lows)

    def inside(self, amounts: Floats) -> Floats:
        """Return what the codes of each run add up to."""
        before = np.concatenate(([0.0], np.cumsum(amounts)))
        return np.asarray(np.maximum(before[self.highs] - before[self.lows], 0.0))

    def spread(self, by_box: Floats, frequencies: Floats) -> Floats:
        """Return how many rows have each code, if those of a box are spread by how frequent its codes are."""
        rows = np.bincount(self.of_box, weights=by_box, minlength=len(self))
        each = rows / np.maximum(self.inside(frequencies), _TINY)
        size = len(frequencies) + 1
        opens = np.bincount(self.lows, weights=each, minlength=size)
        opens = opens - np.bincount(self.highs, weights=each, minlength=size)
        return np.asarray(np.cumsum(opens)[:-1] * frequencies)


@dataclass(frozen=True, eq=False)
class BoxRuns:
    """Boxes of some rows of each class, by the runs that they have."""

    columns: tuple[ColumnRuns, ...]
    rows: Floats

    @staticmethod
    def of_boxes(lows: Codes, highs: Codes) -> tuple[ColumnRuns, ...]:
        """Find the runs of every column."""
        return tuple(ColumnRuns.of(*both) for both in zip(one_by_one(lows), one_by_one(highs), strict=True))

    @cached_property
    def by_box(self) -> Floats:
        """The rows of each box, of all classes."""
        return np.asarray(self.rows.sum(axis=1))

    @cached_property
    def by_class(self) -> Floats:
        """The rows of each class, of all boxes."""
        return np.asarray(self.rows.sum(axis=0))

    @cached_property
    def _found(self) -> dict[tuple[tuple[int, ...], bool], tuple[Ints, Floats]]:
        return {}

    def together(self, columns: tuple[int, ...], *, classes: bool) -> tuple[Ints, Floats]:
        """Return the combinations of runs in some columns, one a line, and the rows of each, by class or of all.

        They are kept, for many questions are about the same columns.
        """
        kept = self._found.get((columns, classes))
        if kept is not None:
            return kept
        number, first = np.zeros(len(self.rows), dtype=np.int64), np.zeros(min(len(self.rows), 1), dtype=np.int64)
        for column in columns:
            runs = self.columns[column]
            number, first = rank_keys(number * len(runs) + runs.of_box, len(first) * len(runs))
        weights = self.rows.T if classes else self.by_box[None, :]
        rows = np.empty((len(first), len(weights)))
        for place, one in enumerate(weights):
            rows[:, place] = np.bincount(number, weights=one, minlength=len(first))
        lines = np.empty((len(first), len(columns)), dtype=np.int64)
        for place, column in enumerate(columns):
            lines[:, place] = self.columns[column].of_box[first]
        if rows.size + lines.size <= _MOST_NUMBERS and len(self._found) < _MOST_KEPT:
            self._found[columns, classes] = lines, rows
        return lines, rows

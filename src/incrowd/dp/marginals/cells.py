"""Columns as cells: what is counted of a single column, and the wider cells that pairs of columns are counted by.

With few people, or a small ε, a pair of columns has more cells than its counts are worth. Neighbouring cells are
therefore joined by their noisy counts, which are public by then: cells that hold many people stay alone, and others
follow each other until there are enough. Everything is counted by class; one class is all rows. Cost: the cells.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from incrowd.common.arrays import Bools, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.dp.boxes.consistency import non_negative

_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Column:
    """The cells of one column: which of them each distinct tuple is in, and their noisy counts, cells × classes."""

    name: str
    cell_of: Ints
    noisy: Ints
    variance: float


@dataclass(frozen=True, eq=False)
class WideCells:
    """A column with neighbouring cells joined: `wide_of[cell]` is where a cell is now."""

    column: Column
    wide_of: Ints

    @classmethod
    def of(cls, column: Column, rows: Floats, most: float) -> WideCells:
        """Join cells until each is about one part of `most` of all rows; larger ones stay alone."""
        total = float(rows.sum())
        shared = share_out(column.noisy.sum(axis=1, keepdims=True).astype(np.float64), np.array([total]))[:, 0]
        return cls(column, np.cumsum(group_starts(shared, most)) - 1)

    def __len__(self) -> int:
        return int(self.wide_of[-1]) + 1

    @property
    def places(self) -> Ints:
        """The wide cell of each distinct tuple."""
        return self.wide_of[self.column.cell_of]

    @property
    def noisy(self) -> Floats:
        """What was counted of each wide cell by class, while single columns were."""
        starts = np.searchsorted(self.wide_of, np.arange(len(self)))
        return np.add.reduceat(self.column.noisy, starts, axis=0).astype(np.float64)

    @property
    def variances(self) -> Floats:
        """The variance of those."""
        return np.asarray(np.bincount(self.wide_of, minlength=len(self)) * self.column.variance, dtype=np.float64)


def group_starts(shares: Floats, most: float) -> Bools:
    """Return which cells begin a group: each is about one part of `most` of all, and larger cells stay alone."""
    enough = max(float(shares.sum()), 1.0) / most
    before = np.floor((np.cumsum(shares) - shares) / enough)
    alone = shares >= enough
    opens = np.ones(len(shares), dtype=bool)
    opens[1:] = (before[1:] != before[:-1]) | alone[1:] | alone[:-1]
    return opens


def share_out(noisy: Floats, totals: Floats) -> Floats:
    """Return the nearest counts, cells × classes, that are not negative and sum up to a total for each class."""
    parents = np.array([-1, *[0] * len(noisy)])
    estimate = np.concatenate([np.maximum(totals, 0.0)[None, :], noisy])
    return non_negative(parents, estimate, np.ones(len(parents)))[1:]


def not_negative(rows: Floats) -> Floats:
    """Return the nearest numbers of rows by class that are not negative and have the same sum.

    Where there are many classes and much noise, cutting each off at 0 would add up to far too many.
    """
    return share_out(rows[:, None], rows.sum(keepdims=True))[:, 0]


def total_rows(columns: Sequence[Column]) -> Floats:
    """Return the best estimate of how many rows of each class there are: fewer cells have less noise."""
    precise = np.array([1 / max(len(column.noisy) * column.variance, _TINY) for column in columns])
    totals = np.stack([column.noisy.sum(axis=0) for column in columns])
    return np.asarray((precise / precise.sum()) @ totals, dtype=np.float64)

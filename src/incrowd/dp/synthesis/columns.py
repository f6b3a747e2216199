"""Columns of a model: what was counted of each, the wider cells that the model has, and groups of these.

A column's own cells may be many; the model has neighbouring ones joined that hold few rows (`WideCells` of the
marginals), and counts of several columns together may be of wider groups still, by level: 0 is the model's cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Floats, Ints
from incrowd.common.records import dataclass
from incrowd.dp.marginals.cells import group_starts

LEVELS = (24, 10, 5)
"""At each level, a cell holds at least about one part in so many of all rows."""


@dataclass(frozen=True, eq=False)
class Cells:
    """A column: the cell of each distinct tuple, how many cells there are, and from which on neighbours are alike."""

    name: str
    cell_of: Ints
    size: int
    ordered_from: int | None = None


@dataclass(frozen=True, eq=False)
class ModelColumn:
    """A column of the model; `counts` are its cells' estimated counts, none of them negative."""

    cells: Cells
    counts: Floats
    starts: Ints
    """The first of the cells that each cell of the model has."""
    levels: tuple[Ints, ...] = field(repr=False)
    """The first of the model's cells in each group, by level."""

    @classmethod
    def of(cls, cells: Cells, counts: Floats, most: Sequence[int] = LEVELS, *, whole: bool = False) -> ModelColumn:
        """Join cells with few rows; `whole` keeps them as they are."""
        starts = np.arange(len(counts)) if whole else np.flatnonzero(group_starts(counts, most[0]))
        wide = np.add.reduceat(counts, starts)
        levels = [np.arange(len(wide))]
        levels += [np.arange(len(wide)) if whole else np.flatnonzero(group_starts(wide, each)) for each in most[1:]]
        return cls(cells, counts, starts, tuple(levels))

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def places(self) -> NDArray[np.uint16]:
        """The model's cell of each distinct tuple."""
        return np.repeat(np.arange(len(self), dtype=np.uint16), self.joined).take(self.cells.cell_of)

    @property
    def joined(self) -> Ints:
        """How many cells each of the model's cells has."""
        return np.diff(self.starts, append=self.cells.size)


def count_together(places: Sequence[Ints], sizes: Sequence[int], counts: Ints) -> Ints:
    """Return how many rows are in each combination of some columns' cells."""
    key = np.zeros(len(counts), dtype=np.int64)
    for place, size in zip(places, sizes, strict=True):
        key = key * size + place
    found = np.bincount(key, weights=counts, minlength=int(np.prod(sizes)))
    return found.astype(np.int64).reshape(tuple(sizes))

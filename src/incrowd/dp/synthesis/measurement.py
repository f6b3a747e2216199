"""A measurement: noisy counts of some columns' groups of cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Floats, Ints
from incrowd.common.records import dataclass
from incrowd.dp.synthesis.junction_tree import Columns


def grouped(counts: NDArray[Any], starts: Sequence[Ints]) -> NDArray[Any]:
    """Add up counts by groups of cells that follow each other: `starts[i]` are the first cells of axis i's groups."""
    for axis, first in enumerate(starts):
        if len(first) < counts.shape[axis]:
            counts = np.add.reduceat(counts, first, axis=axis)
    return counts


@dataclass(frozen=True, eq=False)
class Measurement:
    """Noisy counts of some columns' groups of cells: `starts[i]` are the first cells of column i's groups."""

    columns: Columns
    starts: tuple[Ints, ...]
    noisy: Floats
    ridge: Floats
    """How little each count is trusted: r above."""

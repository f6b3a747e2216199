"""Rows that were made, not counted: from a table's codes to cells, and from rows of cells to boxes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Ints
from incrowd.core.tally import group_tuples
from incrowd.dp.boxes.box_cuts import Cut
from incrowd.dp.boxes.noisy_tree import NoisyTree
from incrowd.dp.marginals.told_variance import ColumnNoise
from incrowd.errors import Unsatisfiable

_MOST_ROWS = 100_000_000


def require_rows(rows: float) -> None:
    """Refuse to make more rows than fit the memory; how many they are is a noisy count."""
    if rows > _MOST_ROWS:
        raise Unsatisfiable(
            f"about {rows:,.0f} synthetic rows are more than fit the memory.  Hint: publish a sample, or spend more ε."
        )


def cells_of(cut: Cut, codes: NDArray[np.int32]) -> Ints:
    """Return which run of a cut each code is in."""
    starts = np.array([low for low, _ in cut.runs])
    return np.asarray(np.searchsorted(starts, codes, side="right") - 1, dtype=np.int64)


def as_boxes(
    made: Sequence[Ints],
    classes: Ints,
    cuts: Sequence[Cut],
    class_count: int,
    noise: Sequence[ColumnNoise],
    rows_noise: float,
    dependence: float,
    *,
    by_class: bool = False,
) -> tuple[NoisyTree, NDArray[np.int64]]:
    """Return the distinct combinations of quasi-identifiers as boxes that nobody counted, and their rows by class.

    `noise` is that of the count of one cell of each column, and last of one class; `rows_noise` of all rows. `by_class`
    says that the columns' noise is that of counts by class.
    """
    cells = np.stack(made, axis=1).astype(np.int32)
    box_of, first = group_tuples(cells, [len(cut.runs) for cut in cuts])
    counts = np.bincount(box_of * class_count + classes, minlength=len(first) * class_count)
    counts = counts.astype(np.int64).reshape(len(first), class_count)
    runs = [np.array(cut.runs, dtype=np.int32)[cells[first, place]] for place, cut in enumerate(cuts)]
    lows, highs = (np.stack([run[:, end] for run in runs], axis=1) for end in (0, 1))
    nowhere, unknown = np.full(len(first), -1, dtype=np.int64), np.full(len(first), np.inf)
    codes = [cut.runs[-1][1] - cut.runs[0][0] for cut in cuts]
    each = [one.of_codes(len(cut.runs), many) for one, cut, many in zip(noise, cuts, codes, strict=False)]
    known = (*each, noise[-1])
    tree = NoisyTree(nowhere, lows, highs, counts, unknown, None, None, known, rows_noise, dependence, by_class)
    return tree, counts

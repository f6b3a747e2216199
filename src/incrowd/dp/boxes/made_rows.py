"""Rows that were made, not counted: from a table's codes to cells, and from rows of cells to boxes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Ints, side_by_side
from incrowd.common.threads import do_together
from incrowd.core.tally import group_columns
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
    inside = np.repeat(np.arange(len(cut.runs)), [high - low for low, high in cut.runs])
    return np.concatenate([np.full(cut.runs[0][0], -1), inside]).take(codes)


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
    box_of, first = group_columns(made, [len(cut.runs) for cut in cuts], len(classes))
    steps = len(first) * len(made)
    counts = np.bincount(box_of * class_count + classes, minlength=len(first) * class_count)
    counts = counts.astype(np.int64, copy=False).reshape(len(first), class_count)
    ends = [np.array(cut.runs, dtype=np.int32).T for cut in cuts]
    found = do_together([partial(_at, own, cells, first) for own, cells in zip(ends, made, strict=True)], steps=steps)
    lows, highs = (side_by_side([each[end] for each in found], len(first)) for end in (0, 1))
    nowhere, unknown = np.full(len(first), -1, dtype=np.int64), np.full(len(first), np.inf)
    codes = [cut.runs[-1][1] - cut.runs[0][0] for cut in cuts]
    each = [one.of_codes(len(cut.runs), many) for one, cut, many in zip(noise, cuts, codes, strict=False)]
    known = (*each, noise[-1])
    tree = NoisyTree(nowhere, lows, highs, counts, unknown, None, None, known, rows_noise, dependence, by_class)
    return tree, counts


def _at(ends: Codes, cells: Ints, chosen: Ints) -> tuple[Codes, Codes]:
    """Return where the cells of some rows begin and end."""
    own = cells[chosen]
    return ends[0].take(own), ends[1].take(own)

"""Count sets of one to three columns together, all of them in one pass, and hold such counts against a model's.

The loops are in `native/joint_counts.cpp`. Sets are lines of three columns, -1 for none; their tables follow each other
in one flat array, each from its start on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from incrowd.common.arrays import Codes, Floats, Ints


def table_starts(sets: Codes, sizes: Ints) -> Ints:
    """Return where the table of each set starts, and where the last one ends."""
    cells = np.where(sets < 0, 1, sizes[sets]).prod(axis=1)
    return np.concatenate([[0], np.cumsum(cells)]).astype(np.int64)


def count_sets(places: NDArray[np.uint16], counts: Ints, sets: Codes, sizes: Ints) -> Ints:
    """Return the counts of all sets; `places[c, t]` is the cell of tuple t in column c."""
    starts = table_starts(sets, sizes)
    found = np.zeros(int(starts[-1]), dtype=np.int64)
    call("count_sets", places, counts, sets, sizes, starts, found)
    return found


def distances_of_sets(
    counts: Ints, probabilities: Floats, rows: float, units: int, sets: Codes, sizes: Ints,
    candidates: tuple[Ints, Ints], groups: tuple[Codes, Ints, Ints],
) -> Ints:  # fmt: skip
    """Return Σ |count − expected|, in units, of each candidate: the number of a set, and a level of groups of cells.

    `groups` are as `group_maps` returns them.
    """
    found = np.empty(len(candidates[0]), dtype=np.int64)
    call(
        "distances_of_sets", counts, probabilities, float(rows), units, sets, sizes, table_starts(sets, sizes),
        *candidates, *groups, found,
    )  # fmt: skip
    return found


def group_maps(columns: Sequence[Sequence[Ints]], sizes: Ints) -> tuple[Codes, Ints, Ints]:
    """Return the group of each column's cells by level, where each of these begins, and how many groups there are.

    `columns[c][l]` are the first cells of the groups of column c at level l.
    """
    parts, at = [], 0
    starts = np.empty((len(columns), len(columns[0])), dtype=np.int64)
    many = np.empty_like(starts)
    for column, levels in enumerate(columns):
        for level, first in enumerate(levels):
            parts.append(np.repeat(np.arange(len(first)), np.diff(first, append=sizes[column])).astype(np.int32))
            starts[column, level], many[column, level] = at, len(first)
            at += int(sizes[column])
    return np.concatenate(parts), starts, many

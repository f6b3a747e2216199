"""What several releases tell together of people who were in the same groups: loops over classes of people.

Class c are people with the same groups in all releases: `groups[c, r]` is their group in release r, or -1; groups are
numbered through all releases. Group g shows the values `values[starts[g]:starts[g + 1]]`, ascending, as often as
`counts` says: these are its *entries*. A *cell* is a class with a value that all of its groups show; the cells of class
c are `cells[c]:cells[c + 1]`, with their values in `cell_values`, ascending. The loops are in
`native/releases_together.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Codes, Counts, Floats, Ints


def cells_of_classes(groups: Ints, starts: Ints, values: Codes) -> tuple[Ints, Codes]:
    """Return where the cells of each class start, and their values."""
    cells = np.zeros(len(groups) + 1, dtype=np.int64)
    cell_values = call("cells_of_classes", groups, starts, values, cells)
    return cells, cell_values


def bounds_of_cells(
    groups: Ints, starts: Ints, values: Codes, counts: Counts, cells: Ints, cell_values: Codes, sizes: Counts,
    rounds: int,
) -> tuple[Counts, Counts]:  # fmt: skip
    """Return how many people of each class have a value at least and at most, by adding and subtracting counts.

    In each round, what a cell leaves to the others of its class and of its entries, and these to it, is looked at with
    the bounds of the round before, until nothing changes or after so many rounds.
    """
    least, most = np.empty(len(cell_values), dtype=np.int64), np.empty(len(cell_values), dtype=np.int64)
    call("bounds_of_cells", groups, starts, values, counts, cells, cell_values, sizes, rounds, least, most)
    return least, most


def likeliest_counts(
    groups: Ints, starts: Ints, values: Codes, counts: Counts, cells: Ints, cell_values: Codes, sizes: Counts,
    least: Counts, most: Counts, sweeps: int, close: float,
) -> Floats:  # fmt: skip
    """Return how many people of each class have a value, most likely: as even as all counts allow.

    Cells whose number is known are taken out. Then iterative proportional fitting: starting from even shares of the
    values that are left, cells are scaled to the counts of one release after the other, and to the size of their
    class, until no share changes by more than `close`, or after so many sweeps.
    """
    fitted = np.empty(len(cell_values))
    call(
        "likeliest_counts", groups, starts, values, counts, cells, cell_values, sizes, least, most, sweeps,
        float(close), fitted,
    )  # fmt: skip
    return fitted

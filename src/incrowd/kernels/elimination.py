"""Take columns out of a graph until none is left: the cliques of a junction tree, and how many cells they have.

The loops are in `native/elimination.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Bools, Codes, Floats


def eliminate(graph: Bools, logs: Floats) -> tuple[Bools, float]:
    """Return the clique of each column as it is taken out, and how many cells all of them have.

    `logs` are the logarithms of the columns' numbers of cells; a column is its own neighbour.
    """
    cliques = np.zeros(graph.shape, dtype=bool)
    return cliques, float(call("eliminate", graph, logs, cliques))


def cells_with_sets(graph: Bools, logs: Floats, sets: Codes, most: float) -> Floats:
    """Return how many cells there are if each set's columns are joined too: exact up to `most`, else above it."""
    cells = np.empty(len(sets))
    call("cells_with_sets", graph, logs, sets, float(most), cells)
    return cells

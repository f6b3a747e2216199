"""How likely the cells of a junction tree's cliques are, from potentials of groups of cells: one pass up and one down.

The loop is in `native/potentials.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.common.records import dataclass
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Codes, Floats, Ints


@dataclass(frozen=True, eq=False)
class TreeArrays:
    """A junction tree and what was measured of it, as arrays.

    Cliques have `shapes`, filled up with ones at the front, and their cells from `starts` on. `own` and `above` are the
    strides of what a clique shares with its parent, in its own cells and in the parent's, and `shared` how many cells
    that has. A measurement is in its host's cells by `strides`; its own cells are groups `group_of`, from its start on.
    """

    shapes: Ints
    starts: Ints
    parents: Ints
    own: Ints
    above: Ints
    shared: Ints
    hosts: Ints
    strides: Ints
    group_of: Codes
    group_starts: Ints


def likely_cells(arrays: TreeArrays, theta: Floats) -> tuple[float, Floats, Floats]:
    """Return the logarithm of what potentials add up to, how likely all cells are, and all groups."""
    probabilities, expected = np.empty(int(arrays.starts[-1])), np.empty(len(theta))
    log_sum = call(
        "likely_cells", theta, arrays.shapes, arrays.starts, arrays.parents, arrays.own, arrays.above, arrays.shared,
        arrays.hosts, arrays.strides, arrays.group_of, arrays.group_starts, probabilities, expected,
    )  # fmt: skip
    return float(log_sum), probabilities, expected

"""How much purer boxes become if a column is specialized: all candidates of a column in one pass over the tuples.

A piece's purity is Σ n_class² / n, rounded down to whole numbers of 2**-20, piece by piece: sums of these are exact,
and one person changes one piece's only. Tuples come sorted by their box. Cost: tuples, and for splits of numbers boxes
× values besides. The loops are in `native/purity.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Codes, Counts, Ints


def gains_of_pieces(
    starts: Ints, codes: Codes, classes: Ints, counts: Counts, piece_of: Ints, run_of: Ints, runs: int, class_count: int
) -> Ints:
    """Return the gain of each run that may be specialized; `piece_of[code]` is its piece, -1 if it is in none.

    `starts` are where each box's tuples begin, and one more; `run_of[piece]` is the run that the piece is of. All
    tuples of a box are in the same run.
    """
    gains = np.zeros(runs, dtype=np.int64)
    call("gains_of_pieces", starts, codes, classes, counts, piece_of, run_of, class_count, gains)
    return gains


def gains_of_points(
    starts: Ints, codes: Codes, classes: Ints, counts: Counts, low: int, high: int, class_count: int
) -> Ints:
    """Return the gain of splitting the run [low, high) of a column of numbers at each point from low + 1 on."""
    gains = np.zeros(high - low - 1, dtype=np.int64)
    call("gains_of_points", starts, codes, classes, counts, low, high, class_count, gains)
    return gains

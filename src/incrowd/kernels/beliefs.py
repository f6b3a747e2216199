"""What crowds say of each person: the shares of values, averaged over the crowds that somebody could be in.

The loops are in `native/beliefs.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Codes, Counts, Floats, Ints


def spread_shares(
    offsets: Ints, crowds: Ints, weights: Floats, starts: Ints, values: Codes, counts: Counts, sizes: Counts,
    number: int,
) -> Floats:  # fmt: skip
    """Return a row for each person: the probability of each of `number` values."""
    shares = np.zeros((len(offsets) - 1, number))
    call("spread_shares", offsets, crowds, weights, starts, values, counts, sizes, shares)
    return shares


def sum_by_code(codes: Codes, rows: Floats, weights: Floats, size: int) -> Floats:
    """Return, for each code, the weighted sum of the rows that have it."""
    sums = np.zeros((size, rows.shape[1]))
    call("sum_by_code", codes, np.ascontiguousarray(rows), weights, sums)
    return sums

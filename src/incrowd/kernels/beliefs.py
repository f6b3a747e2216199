"""What crowds say of each person: the shares of values, averaged over the crowds that somebody could be in."""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled


@compiled
def spread_shares(offsets, crowds, weights, starts, values, counts, sizes, number):
    """Return a row for each person: the probability of each of `number` values."""
    shares = np.zeros((len(offsets) - 1, number))
    for person in range(len(offsets) - 1):
        for place in range(offsets[person], offsets[person + 1]):
            crowd = crowds[place]
            if sizes[crowd] == 0:
                continue
            weight = weights[place] / sizes[crowd]
            for entry in range(starts[crowd], starts[crowd + 1]):
                shares[person, values[entry]] += weight * counts[entry]
    return shares


@compiled
def sum_by_code(codes, rows, weights, size):
    """Return, for each code, the weighted sum of the rows that have it."""
    sums = np.zeros((size, rows.shape[1]))
    for row in range(len(codes)):
        for place in range(rows.shape[1]):
            sums[codes[row], place] += weights[row] * rows[row, place]
    return sums

"""Count how often the values of one attribute go with those of all others."""

from __future__ import annotations

from incrowd.kernels.compiling import compiled


@compiled
def count_pairs(codes, counts, attribute, usual, offsets, table):
    """Add to `table[i, offsets[b] + j]` the rows with code i of an attribute and code j of attribute b.

    Tuples with the attribute's `usual` code are left out: what is missing follows from the totals, and in sparse tables
    it is almost everything.
    """
    tuples, attributes = codes.shape
    for row in range(tuples):
        code = codes[row, attribute]
        if code != usual:
            for other in range(attributes):
                table[code, offsets[other] + codes[row, other]] += counts[row]

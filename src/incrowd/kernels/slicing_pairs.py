"""Count how often the values of one attribute go with those of all others.

The loop is in `native/slicing_pairs.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Codes, Counts, Ints


def count_pairs(codes: Codes, counts: Counts, attribute: int, usual: int, offsets: Ints, table: Counts) -> None:
    """Add to `table[i, offsets[b] + j]` the rows with code i of an attribute and code j of attribute b.

    Tuples with the attribute's `usual` code are left out: what is missing follows from the totals, and in sparse tables
    it is almost everything.
    """
    call("count_attribute_pairs", np.ascontiguousarray(codes), counts, attribute, usual, offsets, table)

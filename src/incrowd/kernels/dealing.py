"""Deal values to rows at random, as many of each as there are: drawing without putting back.

The loop is in `native/dealing.cpp`. With n values left, one is more likely than another by n / 2⁶⁴ at most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Ints, Words


def deal_values(above: Ints, counts: Ints, words: Words) -> Ints:
    """Return a value for each row: of the rows with `above` a, `counts[a, b]` get b."""
    values = np.empty(len(above), dtype=np.int64)
    call("deal_values", above, np.ascontiguousarray(counts), words, values)
    return values


def deal_listed(above: Ints, many: Ints, listed: Ints, words: Words) -> Ints:
    """Return the same where the values are listed, line after line, and line a has `many[a]` of them."""
    values = np.empty(len(above), dtype=np.int64)
    call("deal_listed", above, np.ascontiguousarray(many), listed, words, values)
    return values

"""Pack tuples of codes into keys, number keys as they are met or in sorted order, and tell which codes there are.

The loops are in `native/keys.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from incrowd.common.threads import do_together, shares, threads
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Bools, Codes, Ints


def number_keys(keys: Ints) -> tuple[Ints, int]:
    """Return the number of each key, in the order in which they are first met, and how many there are."""
    numbers = np.empty(len(keys), dtype=np.int64)
    return numbers, call("number_keys", keys, numbers)


def pack_codes(codes: Codes, sizes: Ints) -> Ints:
    """Return a key for each tuple, in the order of tuples; `sizes[j]` bounds the codes of column j.

    The product of all sizes is at most 2^62.
    """
    keys = np.empty(len(codes), dtype=np.int64)
    call("pack_codes", codes, sizes, keys, threads())
    return keys


def codes_met(codes: Codes, of_rows: Bools, sizes: Sequence[int]) -> list[Bools]:
    """Tell for each column which codes some of the rows have; `sizes[j]` bounds those of column j."""
    starts = np.cumsum([0, *sizes], dtype=np.int64)
    marks = np.zeros(starts[-1], dtype=bool)
    call("mark_codes", np.ascontiguousarray(codes), of_rows, starts, marks, threads())
    return [marks[first:last] for first, last in pairwise(starts.tolist())]


def rank_keys(keys: Ints, room: int) -> tuple[Ints, Ints]:
    """Number distinct keys below `room` in sorted order; return each one's number and the first place of each."""
    keys = np.ascontiguousarray(keys, dtype=np.int64)
    ranks = np.empty(len(keys), dtype=np.int64)
    if room <= len(keys):  # a table of all keys is no longer than they are: there is nothing to sort
        return ranks, call("rank_by_table", keys, room, ranks, threads())
    bits = max(len(keys) - 1, 0).bit_length()
    if room << bits >= 2**63:
        _, first, index = np.unique(keys, return_index=True, return_inverse=True)
        return index, first
    # Key and place in one number: sorting values is several times faster than sorting places by their keys.
    ordered = (keys << bits) | np.arange(len(keys))
    _sort(ordered)
    return ranks, call("rank_sorted", ordered, bits, ranks, threads())


def _sort(values: Ints) -> None:
    """Sort in place. NumPy parts values in a small part of the time of sorting them; threads sort the parts."""
    ranges = shares(len(values))
    if len(ranges) > 1:
        values.partition([first for first, _ in ranges[1:]])
    do_together([partial(values[first:last].sort) for first, last in ranges], steps=len(values))

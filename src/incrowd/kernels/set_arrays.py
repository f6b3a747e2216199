"""Sets as arrays: set s has the items `items[offsets[s]:offsets[s + 1]]`, in ascending order.

The loops are in `native/set_arrays.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Codes, Counts, Ints, Words


def hash_sets(offsets: Ints, items: Codes, apart: Ints) -> Words:
    """Return a 64-bit hash of each set and its number in `apart`, which keeps equal sets apart."""
    hashes = np.empty(len(offsets) - 1, dtype=np.uint64)
    call("hash_sets", offsets, items, apart, hashes)
    return hashes


def number_sets(offsets: Ints, items: Codes, apart: Ints, hashes: Words, order: Ints) -> tuple[Ints, Ints]:
    """Number equal sets alike, going through them in the order of their hashes; return the numbers, and one of each."""
    number = np.empty(len(order), dtype=np.int64)
    first = call("number_sets", offsets, items, apart, hashes, order, number)
    return number, first


def take_sets(offsets: Ints, items: Codes, chosen: Ints) -> tuple[Ints, Codes]:
    """Return the offsets and items of the chosen sets, in the order given."""
    new_offsets = np.zeros(len(chosen) + 1, dtype=np.int64)
    np.cumsum(offsets[chosen + 1] - offsets[chosen], out=new_offsets[1:])
    new_items = np.empty(new_offsets[-1], dtype=np.int32)
    call("take_sets", offsets, items, chosen, new_offsets, new_items)
    return new_offsets, new_items


def shown_sets(offsets: Ints, shown: Codes) -> tuple[Ints, Codes]:
    """Return the offsets and items of sets of nodes: sorted, each once, and without 0, which stands for nothing."""
    new_offsets, new_items = np.zeros(len(offsets), dtype=np.int64), np.empty(len(shown), dtype=np.int32)
    used = call("shown_sets", offsets, shown, new_offsets, new_items)
    return new_offsets, new_items[:used].copy()


def holders(offsets: Ints, items: Codes, size: int) -> tuple[Ints, Codes, Ints]:
    """Return, for each item below `size`, where it is: where its run starts, the sets that have it, and the places."""
    starts = np.zeros(size + 1, dtype=np.int64)
    sets, places = np.empty(len(items), dtype=np.int32), np.empty(len(items), dtype=np.int64)
    call("holders_of_items", offsets, items, starts, sets, places)
    return starts, sets, places


def most_frequent(total: int, held: Counts, values: int, first: int) -> tuple[int, int]:
    """Return how many people have the likeliest sensitive value, and of how many that is a share.

    `held[v]` of the `total` people have the value v. Codes below `first` are missing values that are ignored: those
    who have one are left out, unless there is nobody else; then all are taken to have one and the same value.
    """
    people, of_all = call("likeliest_value", total, held, values, first)
    return people, of_all

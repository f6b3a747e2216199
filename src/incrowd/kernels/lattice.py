"""Group the rows of a table by generalized codes: the step that searches over level vectors repeat most.

A row's key at some levels is the sum over its columns of `keys[first_key[column] + code]`, where `first_key` picks the
part of `keys` that belongs to the column's level; rows with equal keys are one group. `slots` and `slot_keys` are the
scratch of a hash table: as long as a power of two that is at least twice the number of rows, `slots` all -1 before and
after.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_EMPTY = -1
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True)
def _table_shift(rows):
    """Return how far to shift a 64-bit hash for a table of at least twice as many slots as rows."""
    shift = np.uint64(63)
    while (np.uint64(1) << (np.uint64(64) - shift)) < np.uint64(2 * rows):
        shift -= np.uint64(1)
    return shift


@njit(cache=True)
def group_rows(codes, members, keys, first_key, group_of, slots, slot_keys, used):
    """Number the groups that the listed rows fall into, in the order of their first member; return how many."""
    columns = codes.shape[1]
    shift = _table_shift(len(members))
    mask = (np.int64(1) << np.int64(np.uint64(64) - shift)) - 1
    groups = 0
    for place in range(len(members)):
        row = members[place]
        key = np.int64(0)
        for column in range(columns):
            key += keys[first_key[column] + codes[row, column]]
        slot = np.int64((np.uint64(key) * _SPREAD) >> shift)
        while slots[slot] != _EMPTY and slot_keys[slot] != key:
            slot = (slot + 1) & mask
        if slots[slot] == _EMPTY:
            slots[slot] = groups
            slot_keys[slot] = key
            used[groups] = slot
            groups += 1
        group_of[place] = slots[slot]
    for group in range(groups):
        slots[used[group]] = _EMPTY
    return groups


@njit(cache=True)
def total_small(counts, group_of, groups, row_losses, min_group):
    """Add up group sizes; return them, the rows in groups below `min_group`, and what withholding those rows adds.

    Withholding a row costs 1 instead of its own loss.
    """
    sizes = np.zeros(groups, dtype=np.int64)
    for row in range(len(counts)):
        sizes[group_of[row]] += counts[row]
    withheld, added = 0, 0.0
    for row in range(len(counts)):
        if sizes[group_of[row]] < min_group:
            withheld += counts[row]
            added += counts[row] * (1.0 - row_losses[row])
    return sizes, withheld, added


@njit(cache=True)
def next_promising(codes, counts, members, keys, first_keys, start, min_group, group_of, sizes, slots, slot_keys, used):
    """Find the first vector from `start` on at which some group of the listed rows has at least `min_group` rows.

    `first_keys[vector]` picks the parts of `keys` for each vector. Return the vector (or their number, if there is
    none) and how many groups there are; `group_of` and `sizes` describe them.
    """
    for vector in range(start, len(first_keys)):
        groups = group_rows(codes, members, keys, first_keys[vector], group_of, slots, slot_keys, used)
        sizes[:groups] = 0
        largest = 0
        for place in range(len(members)):
            group = group_of[place]
            sizes[group] += counts[members[place]]
            largest = max(largest, sizes[group])
        if largest >= min_group:
            return vector, groups
    return len(first_keys), 0

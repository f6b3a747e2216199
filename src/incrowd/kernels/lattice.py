"""Group the rows of a table by generalized codes: the step that a search over level vectors repeats most."""

from __future__ import annotations

import numpy as np
from numba import njit

_EMPTY = -1
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True)
def group_rows(codes, contributions, first_contribution, group_of, slots, slot_keys):
    """Number the groups that rows fall into; return how many there are.

    Column j adds `contributions[first_contribution[j] + codes[row, j]]` to a row's key: rows with equal keys are one
    group. `slots` and `slot_keys` are scratch whose length is a power of two, at least twice the number of rows, and
    `slots` is all -1 before and after.
    """
    rows, columns = codes.shape
    mask = len(slots) - 1
    shift = np.uint64(64)
    size = len(slots)
    while size > 1:
        size >>= 1
        shift -= np.uint64(1)
    groups = 0
    used = np.empty(rows, dtype=np.int64)
    for row in range(rows):
        key = np.int64(0)
        for column in range(columns):
            key += contributions[first_contribution[column] + codes[row, column]]
        slot = np.int64((np.uint64(key) * _SPREAD) >> shift) & mask
        while slots[slot] != _EMPTY and slot_keys[slot] != key:
            slot = (slot + 1) & mask
        if slots[slot] == _EMPTY:
            slots[slot] = groups
            slot_keys[slot] = key
            used[groups] = slot
            groups += 1
        group_of[row] = slots[slot]
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

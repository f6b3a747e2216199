"""Group the rows of a table by generalized codes: the step that searches over level vectors repeat most.

A row's key at some levels is the sum over its columns of `keys[first_key[column] + code]`, where `first_key` picks the
part of `keys` that belongs to the column's level; rows with equal keys are one group. `slots` and `slot_keys` are the
scratch of a hash table: as long as a power of two that is at least twice the number of rows, `slots` all -1 before and
after.
"""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled

_EMPTY = -1
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@compiled
def _table_shift(rows):
    """Return how far to shift a 64-bit hash for a table of at least twice as many slots as rows."""
    shift = np.uint64(63)
    while (np.uint64(1) << (np.uint64(64) - shift)) < np.uint64(2 * rows):
        shift -= np.uint64(1)
    return shift


@compiled
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


@compiled
def count_groups(codes, counts, keys, scores, first_key, group_of, slots, slot_keys, used):
    """Group all rows as `group_rows` does; return their groups, and the groups' sizes and sums of scores.

    `scores` is laid out as `keys`; all rows of a group have the same.
    """
    rows, columns = codes.shape
    shift = _table_shift(rows)
    mask = (np.int64(1) << np.int64(np.uint64(64) - shift)) - 1
    sizes = np.empty(rows, dtype=np.int64)
    totals = np.empty(rows)
    groups = 0
    for row in range(rows):
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
            total = 0.0
            for column in range(columns):
                total += scores[first_key[column] + codes[row, column]]
            totals[groups] = total
            sizes[groups] = 0
            groups += 1
        group_of[row] = slots[slot]
        sizes[slots[slot]] += counts[row]
    for group in range(groups):
        slots[used[group]] = _EMPTY
    return group_of, sizes[:groups], totals[:groups]


@compiled
def merge_rows(codes, sensitive, counts, keys, first_key, slots, slot_keys, used):
    """Add up rows with equal keys; return codes, sensitive codes and counts of one row each, in their first order.

    Sensitive columns have one level each; `first_key` has them behind the others.
    """
    rows, columns = codes.shape
    shift = _table_shift(rows)
    mask = (np.int64(1) << np.int64(np.uint64(64) - shift)) - 1
    totals = np.empty(rows, dtype=np.int64)
    members = np.empty(rows, dtype=np.int64)
    groups = 0
    for row in range(rows):
        key = np.int64(0)
        for column in range(columns):
            key += keys[first_key[column] + codes[row, column]]
        for column in range(sensitive.shape[1]):
            key += keys[first_key[columns + column] + sensitive[row, column]]
        slot = np.int64((np.uint64(key) * _SPREAD) >> shift)
        while slots[slot] != _EMPTY and slot_keys[slot] != key:
            slot = (slot + 1) & mask
        if slots[slot] == _EMPTY:
            slots[slot] = groups
            slot_keys[slot] = key
            used[groups] = slot
            members[groups] = row
            totals[groups] = 0
            groups += 1
        totals[slots[slot]] += counts[row]
    merged = np.empty((groups, columns), dtype=codes.dtype)
    values = np.empty((groups, sensitive.shape[1]), dtype=sensitive.dtype)
    for group in range(groups):
        slots[used[group]] = _EMPTY
        merged[group] = codes[members[group]]
        values[group] = sensitive[members[group]]
    return merged, values, totals[:groups].copy()


@compiled
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


@compiled
def sweep_sizes(
    codes, counts, left, keys, first_keys, min_group, group_of, groups, here, sizes, slots, slot_keys, used
):
    """Go through vectors; rows that share a large enough group at one get it, the rest of `left` go on to the next.

    `left` is kept at the front of its array; return how many are left and how many groups there are.
    """
    many = len(left)
    for vector in range(len(first_keys)):
        if many == 0:
            break
        found = group_rows(codes, left[:many], keys, first_keys[vector], here, slots, slot_keys, used)
        sizes[:found] = 0
        for place in range(many):
            sizes[here[place]] += counts[left[place]]
        for group in range(found):
            if sizes[group] >= min_group:
                sizes[group] = groups
                groups += 1
            else:
                sizes[group] = _EMPTY
        kept = 0
        for place in range(many):
            number = sizes[here[place]]
            if number == _EMPTY:
                left[kept] = left[place]
                kept += 1
            else:
                group_of[left[place]] = number
        many = kept
    return many, groups

"""Find the unsafe combinations that a change of what is shown would bring: the inner loop of methods for sets.

A change replaces one node by others. Only sets with an item below that node change, and only combinations with a new
node can become unsafe; so the sets concerned are written down with their new nodes first, and only combinations that
begin with a new node are walked.
"""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled
from incrowd.kernels.set_arrays import most_frequent


@compiled
def sets_with(starts, holders, low, high, seen, stamp):
    """Return the sets that have an item from `low` to `high`, each once; `seen` remembers by `stamp` who was met."""
    members = np.empty(starts[high] - starts[low], dtype=np.int64)
    number = 0
    for place in range(starts[low], starts[high]):
        one = holders[place]
        if seen[one] != stamp:
            seen[one] = stamp
            members[number] = one
            number += 1
    return members[:number].copy()


@compiled
def project(offsets, items, slots, members, low, high):
    """Write down what these sets show: the slots of items from `low` to `high` first, then the others.

    `slots[item]` is -1 where nothing is shown. Slots ascend with items inside the run and outside of it, so that equal
    ones are neighbours. Sets that show none of the first kind are left out; return offsets, slots and the sets kept.
    """
    room = 0
    for one in members:
        room += offsets[one + 1] - offsets[one]
    new_offsets = np.zeros(len(members) + 1, dtype=np.int64)
    new_items = np.empty(room, dtype=np.int32)
    kept = np.empty(len(members), dtype=np.int64)
    number, used = 0, 0
    for one in members:
        begin, last = used, -1
        for place in range(offsets[one], offsets[one + 1]):
            item = items[place]
            if low <= item < high:
                slot = slots[item]
                if slot >= 0 and slot != last:
                    new_items[used] = slot
                    used += 1
                    last = slot
        if used == begin:
            continue
        last = -1
        for place in range(offsets[one], offsets[one + 1]):
            item = items[place]
            if item < low or item >= high:
                slot = slots[item]
                if slot >= 0 and slot != last:
                    new_items[used] = slot
                    used += 1
                    last = slot
        kept[number] = one
        number += 1
        new_offsets[number] = used
    return new_offsets[: number + 1].copy(), new_items[:used].copy(), kept[:number].copy()


@compiled
def without(offsets, items, kept, dropped, fresh):
    """Take dropped slots out of sets that were written down; leave out sets that keep no slot below `fresh`."""
    new_offsets = np.zeros(len(offsets), dtype=np.int64)
    new_items = np.empty(len(items), dtype=np.int32)
    new_kept = np.empty(len(kept), dtype=np.int64)
    number, used = 0, 0
    for one in range(len(kept)):
        begin = used
        for place in range(offsets[one], offsets[one + 1]):
            if not dropped[items[place]]:
                new_items[used] = items[place]
                used += 1
        if used == begin or new_items[begin] >= fresh:
            used = begin
            continue
        new_kept[number] = kept[one]
        number += 1
        new_offsets[number] = used
    return new_offsets[: number + 1].copy(), new_items[:used].copy(), new_kept[:number].copy()


@compiled
def find_conflicts(offsets, items, counts, sensitive, values, fresh, numbers, size, k, share, first, capacity):
    """Return unsafe combinations of exactly `size` slots, the first of them below `fresh`: at most `capacity` of them.

    Unsafe are fewer than k people, or a sensitive value of more than `share` of them; codes below `first` are missing
    values that are ignored. `numbers` bounds the slots;
    `counts` and `sensitive` are those of the sets written down. Return also whether there may be more.
    """
    owners = np.empty(len(items), dtype=np.int32)
    for one in range(len(offsets) - 1):
        owners[offsets[one] : offsets[one + 1]] = one
    conflicts = np.empty((capacity, size), dtype=np.int32)
    known = 0
    totals = np.zeros(numbers, dtype=np.int64)
    held = np.zeros((numbers if values > 0 else 1, max(values, 1)), dtype=np.int64)
    touched = np.empty(numbers, dtype=np.int32)
    depths = max(size - 1, 1)
    found = np.empty((depths, numbers), dtype=np.int32)
    starts = np.zeros((depths, numbers + 1), dtype=np.int64)
    lists = np.empty((depths, len(items)), dtype=np.int32)
    many = np.zeros(depths, dtype=np.int64)
    at = np.zeros(depths, dtype=np.int64)
    marks = np.zeros(numbers + 1, dtype=np.int64)
    for place in range(len(items)):
        if items[place] < fresh:
            marks[items[place] + 1] += 1
    for slot in range(fresh):
        marks[slot + 1] += marks[slot]
        starts[0, slot] = marks[slot]
        found[0, slot] = slot
    starts[0, fresh] = marks[fresh]
    many[0] = fresh
    for place in range(len(items)):
        if items[place] < fresh:
            lists[0, marks[items[place]]] = place
            marks[items[place]] += 1
    marks[:] = 0
    depth = 0
    while depth >= 0:
        if at[depth] == many[depth]:
            depth -= 1
            if depth >= 0:
                at[depth] += 1
            continue
        first, stop = starts[depth, at[depth]], starts[depth, at[depth] + 1]
        if depth < size - 2:
            below, left = depth + 1, size - depth - 2
            number = 0
            for index in range(first, stop):
                place = lists[depth, index]
                for later in range(place + 1, offsets[owners[place] + 1] - left):
                    slot = items[later]
                    if marks[slot] == 0:
                        found[below, number] = slot
                        number += 1
                    marks[slot] += 1
            for step in range(number):
                slot = found[below, step]
                starts[below, step + 1] = starts[below, step] + marks[slot]
                marks[slot] = starts[below, step]
            for index in range(first, stop):
                place = lists[depth, index]
                for later in range(place + 1, offsets[owners[place] + 1] - left):
                    slot = items[later]
                    lists[below, marks[slot]] = later
                    marks[slot] += 1
            for step in range(number):
                marks[found[below, step]] = 0
            many[below] = number
            at[below] = 0
            depth = below
            continue
        number = 0
        for index in range(first, stop):
            place = lists[depth, index]
            owner = owners[place]
            weight = counts[owner]
            if size == 1:
                begin, end = np.int64(place), np.int64(place) + 1
            else:
                begin, end = np.int64(place) + 1, offsets[owner + 1]
            for later in range(begin, end):
                slot = items[later]
                if totals[slot] == 0:
                    touched[number] = slot
                    number += 1
                totals[slot] += weight
                if values > 0 and sensitive[owner] >= 0:
                    held[slot, sensitive[owner]] += weight
        for step in range(number):
            slot = touched[step]
            total = totals[slot]
            totals[slot] = 0
            too_sure = False
            if values > 0:
                high, of_all = most_frequent(total, held[slot], values, first)
                too_sure = high > share * of_all + 1e-9
                held[slot, :] = 0
            if total < k or too_sure:
                if known == capacity:
                    return conflicts, True
                for level in range(size - 1):
                    conflicts[known, level] = found[level, at[level]]
                conflicts[known, size - 1] = slot
                known += 1
        at[depth] += 1
    return conflicts[:known].copy(), False

"""Show one more label in as many sets as is safe: the inner loop of recoding by occurrence.

`labels[place]` is the label that is shown for the item at that place, 0 for none. Where several places of a set have
one label, `leads` marks one of them, so that a set's labels can be read without repetition.
"""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled
from incrowd.kernels.set_arrays import most_frequent


@compiled
def sets_lacking(starts, holders, places, labels, low, high, seen, stamp, alone):
    """Return the sets with an item from `low` to `high` that shows no label yet.

    With `alone`, leave out sets in which another item of the run shows a label. `seen` remembers by `stamp` who was
    met or left out.
    """
    if alone:
        for index in range(starts[low], starts[high]):
            if labels[places[index]] != 0:
                seen[holders[index]] = stamp
    members = np.empty(starts[high] - starts[low], dtype=np.int64)
    number = 0
    for index in range(starts[low], starts[high]):
        one = holders[index]
        if labels[places[index]] == 0 and seen[one] != stamp:
            seen[one] = stamp
            members[number] = one
            number += 1
    return members[:number].copy()


@compiled
def write_labels(offsets, labels, leads, members):
    """Write down the labels that these sets show, ascending."""
    room = 0
    for one in members:
        for place in range(offsets[one], offsets[one + 1]):
            if leads[place]:
                room += 1
    new_offsets = np.zeros(len(members) + 1, dtype=np.int64)
    new_items = np.empty(room, dtype=np.int32)
    used = 0
    for number in range(len(members)):
        one = members[number]
        begin = used
        for place in range(offsets[one], offsets[one + 1]):
            if not leads[place]:
                continue
            label = labels[place]
            hole = used
            while hole > begin and new_items[hole - 1] > label:
                new_items[hole] = new_items[hole - 1]
                hole -= 1
            new_items[hole] = label
            used += 1
        new_offsets[number + 1] = used
    return new_offsets, new_items


@compiled
def give_label(offsets, items, labels, leads, members, low, high, label):
    """Show a label in these sets, for all their items from `low` to `high` that show none yet."""
    for one in members:
        first = True
        for place in range(offsets[one], offsets[one + 1]):
            if low <= items[place] < high and labels[place] == 0:
                labels[place] = label
                leads[place] = first
                first = False


@compiled
def peel(offsets, items, counts, sensitive, values, numbers, known, k, share, first):
    """Return which sets may show one more label, so that all combinations with that label are safe in them.

    All combinations of at most `known` - 1 other labels are counted over the sets that are still in; sets with an
    unsafe one go out, which may make others unsafe; so on until none is. `numbers` bounds the labels, and sensitive
    codes below `first` are missing values that are ignored.
    """
    many = len(counts)
    inside = np.ones(many, dtype=np.bool_)
    totals = np.zeros(numbers, dtype=np.int64)
    held = np.zeros((numbers if values > 0 else 1, max(values, 1)), dtype=np.int64)
    marks = np.zeros(numbers, dtype=np.int64)
    touched = np.empty(numbers, dtype=np.int32)
    owners = np.empty(len(items), dtype=np.int32)
    for one in range(many):
        owners[offsets[one] : offsets[one + 1]] = one
    depths = max(known - 1, 1)
    found = np.empty((depths, numbers), dtype=np.int32)
    starts = np.zeros((depths, numbers + 1), dtype=np.int64)
    lists = np.empty((depths, len(items) if known > 2 else 0), dtype=np.int32)
    size = 0
    while size < known:
        if size == 0:
            out = _peel_by_label_alone(counts, sensitive, values, inside, k, share, first)
            if out < 0:
                return inside
        elif size == 1:
            out = _peel_by_one(
                offsets, items, counts, sensitive, values, inside, k, share, first, totals, held, touched
            )
        else:
            out = _peel_by_more(
                offsets, items, counts, sensitive, values, inside, k, share, first, totals, held, touched,
                owners, marks, found, starts, lists, size,
            )  # fmt: skip
        size = 0 if out > 0 else size + 1
    return inside


@compiled
def _unsafe(total, held, values, k, share, first):
    high, of_all = most_frequent(total, held, values, first)
    return total < k or (values > 0 and high > share * of_all + 1e-9)


@compiled
def _peel_by_label_alone(counts, sensitive, values, inside, k, share, first):
    """Take all sets out if the label itself is unsafe in them, and return -1; else 0."""
    total = 0
    held = np.zeros(max(values, 1), dtype=np.int64)
    for one in range(len(counts)):
        if inside[one]:
            total += counts[one]
            if values > 0 and sensitive[one] >= 0:
                held[sensitive[one]] += counts[one]
    if _unsafe(total, held, values, k, share, first):
        inside[:] = False
        return -1
    return 0


@compiled
def _peel_by_one(offsets, items, counts, sensitive, values, inside, k, share, first, totals, held, touched):
    """Take out sets with a label that is unsafe together with the new one; return how many."""
    number = 0
    for one in range(len(counts)):
        if inside[one]:
            for place in range(offsets[one], offsets[one + 1]):
                label = items[place]
                if totals[label] == 0:
                    touched[number] = label
                    number += 1
                totals[label] += counts[one]
                if values > 0 and sensitive[one] >= 0:
                    held[label, sensitive[one]] += counts[one]
    bad = 0
    for step in range(number):
        label = touched[step]
        unsafe = _unsafe(totals[label], held[label if values > 0 else 0], values, k, share, first)
        if values > 0:
            held[label, :] = 0
        totals[label] = 1 if unsafe else 0
        bad += unsafe
    out = 0
    if bad > 0:
        for one in range(len(counts)):
            if inside[one]:
                for place in range(offsets[one], offsets[one + 1]):
                    if totals[items[place]] > 0:
                        inside[one] = False
                        out += 1
                        break
        for step in range(number):
            totals[touched[step]] = 0
    return out


@compiled
def _peel_by_more(
    offsets, items, counts, sensitive, values, inside, k, share, first, totals, held, touched,
    owners, marks, found, starts, lists, size,
):  # fmt: skip
    """Take out sets with `size` labels that are unsafe together with the new one; return how many."""
    out = 0
    many = np.zeros(size, dtype=np.int64)
    at = np.zeros(size, dtype=np.int64)
    depth = -1
    while True:
        if depth >= 0 and at[depth] == many[depth]:
            depth -= 1
            if depth < 0:
                break
            at[depth] += 1
            continue
        if depth < size - 2:
            # One step deeper: sort the places that follow by their labels. The first step begins with all places.
            below, left = depth + 1, size - depth - 2
            begins = 0 if depth < 0 else starts[depth, at[depth]]
            stop = len(counts) if depth < 0 else starts[depth, at[depth] + 1]
            number = 0
            for index in range(begins, stop):
                owner = index if depth < 0 else owners[lists[depth, index]]
                begin = offsets[owner] if depth < 0 else np.int64(lists[depth, index]) + 1
                if inside[owner]:
                    for place in range(begin, offsets[owner + 1] - left):
                        label = items[place]
                        if marks[label] == 0:
                            found[below, number] = label
                            number += 1
                        marks[label] += 1
            for step in range(number):
                label = found[below, step]
                starts[below, step + 1] = starts[below, step] + marks[label]
                marks[label] = starts[below, step]
            for index in range(begins, stop):
                owner = index if depth < 0 else owners[lists[depth, index]]
                begin = offsets[owner] if depth < 0 else np.int64(lists[depth, index]) + 1
                if inside[owner]:
                    for place in range(begin, offsets[owner + 1] - left):
                        label = items[place]
                        lists[below, marks[label]] = place
                        marks[label] += 1
            for step in range(number):
                marks[found[below, step]] = 0
            many[below] = number
            at[below] = 0
            depth = below
            continue
        begins, stop = starts[depth, at[depth]], starts[depth, at[depth] + 1]
        number = 0
        for index in range(begins, stop):
            last = np.int64(lists[depth, index])
            owner = owners[last]
            if inside[owner]:
                for later in range(last + 1, offsets[owner + 1]):
                    label = items[later]
                    if totals[label] == 0:
                        touched[number] = label
                        number += 1
                    totals[label] += counts[owner]
                    if values > 0 and sensitive[owner] >= 0:
                        held[label, sensitive[owner]] += counts[owner]
        bad = 0
        for step in range(number):
            label = touched[step]
            unsafe = _unsafe(totals[label], held[label if values > 0 else 0], values, k, share, first)
            if values > 0:
                held[label, :] = 0
            totals[label] = 1 if unsafe else 0
            bad += unsafe
        if bad > 0:
            for index in range(begins, stop):
                last = np.int64(lists[depth, index])
                owner = owners[last]
                if inside[owner]:
                    for later in range(last + 1, offsets[owner + 1]):
                        if totals[items[later]] > 0:
                            inside[owner] = False
                            out += 1
                            break
            for step in range(number):
                totals[touched[step]] = 0
        at[depth] += 1
    return out

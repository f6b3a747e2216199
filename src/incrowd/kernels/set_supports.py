"""How many people have each combination of items that occurs: for checking, and for frequent combinations.

Combinations are walked item by item in ascending order. A combination of i - 1 items comes with the list of places
where its last item is; what follows those places in their sets are the candidates for the last item, and one counter
per item counts them. So nothing is stored but one list per size, each no longer than all sets together, and time grows
with the combinations that occur in sets, each set counted by itself.
"""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled
from incrowd.kernels.set_arrays import most_frequent


@compiled
def place_owners(offsets):
    """Return the set that each place belongs to."""
    owners = np.empty(offsets[-1], dtype=np.int32)
    for one in range(len(offsets) - 1):
        owners[offsets[one] : offsets[one + 1]] = one
    return owners


@compiled
def follow(offsets, items, owners, places, missing, marks, found, starts, following):
    """Sort the places that follow `places` in their sets by their items: one step deeper in the walk.

    Only places with at least `missing` more behind them count. `found[:n]` become the items, ascending, and
    `following[starts[j]:starts[j + 1]]` the places of item j; return n. `marks` is all 0 before and after.
    """
    number = 0
    for place in places:
        for later in range(place + 1, offsets[owners[place] + 1] - missing):
            item = items[later]
            if marks[item] == 0:
                found[number] = item
                number += 1
            marks[item] += 1
    found[:number].sort()
    starts[0] = 0
    for step in range(number):
        starts[step + 1] = starts[step] + marks[found[step]]
        marks[found[step]] = starts[step]
    for place in places:
        for later in range(place + 1, offsets[owners[place] + 1] - missing):
            following[marks[items[later]]] = later
            marks[items[later]] += 1
    for step in range(number):
        marks[found[step]] = 0
    return number


@compiled
def survey_supports(offsets, items, counts, sensitive, values, numbers, size, k, share, first, smallest_of, exposed):
    """Look at all combinations of exactly `size` items; `numbers` bounds the items, `values` the sensitive codes.

    Return how many combinations there are, how many are unsafe (fewer than k people, or a sensitive value that more
    than `share` of them have; codes below `first` are missing values that are ignored), the smallest support, and the
    largest share. `smallest_of[s]` is lowered to the smallest support of a combination in set s, and `exposed[s]` set
    if one is unsafe; neither if they are empty arrays.
    """
    owners = place_owners(offsets)
    marks = np.zeros(numbers, dtype=np.int64)
    totals = np.zeros(numbers, dtype=np.int64)
    held = np.zeros((numbers if values > 0 else 1, max(values, 1)), dtype=np.int64)
    last = np.empty(numbers, dtype=np.int64)
    found = np.empty((size, numbers), dtype=np.int64)
    starts = np.zeros((size, numbers + 1), dtype=np.int64)
    lists = np.empty((size, len(items)), dtype=np.int64)
    many = np.zeros(size, dtype=np.int64)
    at = np.zeros(size, dtype=np.int64)
    combinations, unsafe, smallest, largest = 0, 0, np.int64(2**62), 0.0
    many[0] = _first_items(items, numbers, marks, found[0], starts[0], lists[0])
    depth = 0
    while depth >= 0:
        if at[depth] == many[depth]:
            depth -= 1
            if depth >= 0:
                at[depth] += 1
            continue
        places = lists[depth, starts[depth, at[depth]] : starts[depth, at[depth] + 1]]
        if depth < size - 2:
            left = size - depth - 2
            many[depth + 1] = follow(
                offsets, items, owners, places, left, marks, found[depth + 1], starts[depth + 1], lists[depth + 1]
            )
            depth += 1
            at[depth] = 0
            continue
        number = 0
        for place in places:
            owner = owners[place]
            begin = place if size == 1 else place + 1
            stop = place + 1 if size == 1 else offsets[owner + 1]
            for later in range(begin, stop):
                item = items[later]
                if totals[item] == 0:
                    last[number] = item
                    number += 1
                totals[item] += counts[owner]
                if values > 0 and sensitive[owner] >= 0:
                    held[item, sensitive[owner]] += counts[owner]
        for step in range(number):
            item = last[step]
            total = totals[item]
            combinations += 1
            smallest = min(smallest, total)
            too_sure = False
            if values > 0:
                high, of_all = most_frequent(total, held[item], values, first)
                held[item, :] = 0
                largest = max(largest, high / of_all)
                too_sure = high > share * of_all + 1e-9
            if total < k or too_sure:
                unsafe += 1
                marks[item] = 1
        if len(exposed) > 0:
            for place in places:
                owner = owners[place]
                begin = place if size == 1 else place + 1
                stop = place + 1 if size == 1 else offsets[owner + 1]
                for later in range(begin, stop):
                    item = items[later]
                    smallest_of[owner] = min(smallest_of[owner], totals[item])
                    exposed[owner] = exposed[owner] or marks[item] > 0
        for step in range(number):
            totals[last[step]] = 0
            marks[last[step]] = 0
        at[depth] += 1
    return combinations, unsafe, smallest, largest


@compiled
def _first_items(items, numbers, marks, found, starts, places):
    """Sort all places by their items, as `follow` does."""
    for item in items:
        marks[item] += 1
    many = 0
    for item in range(numbers):
        if marks[item] > 0:
            found[many] = item
            starts[many + 1] = starts[many] + marks[item]
            marks[item] = starts[many]
            many += 1
    for place in range(len(items)):
        places[marks[items[place]]] = place
        marks[items[place]] += 1
    for step in range(many):
        marks[found[step]] = 0
    return many


@compiled
def frequent_combinations(offsets, items, counts, numbers, size, least, capacity):
    """Return the combinations of exactly `size` items that at least `least` people have, and their supports.

    Return up to `capacity` of them, and how many there are. A combination is only followed while it has `least` people.
    """
    owners = place_owners(offsets)
    marks = np.zeros(numbers, dtype=np.int64)
    totals = np.zeros(numbers, dtype=np.int64)
    last = np.empty(numbers, dtype=np.int64)
    found = np.empty((size, numbers), dtype=np.int64)
    starts = np.zeros((size, numbers + 1), dtype=np.int64)
    lists = np.empty((size, len(items)), dtype=np.int64)
    many = np.zeros(size, dtype=np.int64)
    at = np.zeros(size, dtype=np.int64)
    combinations = np.empty((capacity, size), dtype=np.int32)
    supports = np.empty(capacity, dtype=np.int64)
    known = 0
    many[0] = _first_items(items, numbers, marks, found[0], starts[0], lists[0])
    depth = 0
    while depth >= 0:
        if at[depth] == many[depth]:
            depth -= 1
            if depth >= 0:
                at[depth] += 1
            continue
        places = lists[depth, starts[depth, at[depth]] : starts[depth, at[depth] + 1]]
        people = 0
        for place in places:
            people += counts[owners[place]]
        if people < least:
            at[depth] += 1
        elif depth < size - 2:
            left = size - depth - 2
            many[depth + 1] = follow(
                offsets, items, owners, places, left, marks, found[depth + 1], starts[depth + 1], lists[depth + 1]
            )
            depth += 1
            at[depth] = 0
        else:
            number = 0
            for place in places:
                owner = owners[place]
                first = place if size == 1 else place + 1
                stop = place + 1 if size == 1 else offsets[owner + 1]
                for later in range(first, stop):
                    item = items[later]
                    if totals[item] == 0:
                        last[number] = item
                        number += 1
                    totals[item] += counts[owner]
            for step in range(number):
                item = last[step]
                if totals[item] >= least:
                    if known < capacity:
                        for level in range(min(depth + 1, size - 1)):
                            combinations[known, level] = found[level, at[level]]
                        combinations[known, size - 1] = item
                        supports[known] = totals[item]
                    known += 1
                totals[item] = 0
            at[depth] += 1
    return combinations[: min(known, capacity)].copy(), supports[: min(known, capacity)].copy(), known


@compiled
def count_itemsets(starts, holders, counts, itemsets):
    """Return how many people have each of the given combinations; `holders` lists the sets of each item, ascending."""
    supports = np.zeros(len(itemsets), dtype=np.int64)
    for number in range(len(itemsets)):
        size = itemsets.shape[1]
        rarest = 0
        for step in range(1, size):
            one, other = itemsets[number, step], itemsets[number, rarest]
            if starts[one + 1] - starts[one] < starts[other + 1] - starts[other]:
                rarest = step
        at = np.empty(size, dtype=np.int64)
        for step in range(size):
            at[step] = starts[itemsets[number, step]]
        for place in range(starts[itemsets[number, rarest]], starts[itemsets[number, rarest] + 1]):
            owner = holders[place]
            everywhere = True
            for step in range(size):
                end = starts[itemsets[number, step] + 1]
                while at[step] < end and holders[at[step]] < owner:
                    at[step] += 1
                if at[step] == end or holders[at[step]] != owner:
                    everywhere = False
                    break
            if everywhere:
                supports[number] += counts[owner]
    return supports

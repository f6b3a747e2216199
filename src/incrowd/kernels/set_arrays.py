"""Sets as arrays: set s has the items `items[offsets[s]:offsets[s + 1]]`, in ascending order."""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled

_FIRST = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xBF58476D1CE4E5B9)
_THIRD = np.uint64(0x94D049BB133111EB)


@compiled
def _mixed(word):
    """Return a word in which every bit depends on all bits (the finalizer of SplitMix64)."""
    word = (word ^ (word >> np.uint64(30))) * _SECOND
    word = (word ^ (word >> np.uint64(27))) * _THIRD
    return word ^ (word >> np.uint64(31))


@compiled
def hash_sets(offsets, items, apart):
    """Return a 64-bit hash of each set and its number in `apart`, which keeps equal sets apart."""
    hashes = np.empty(len(offsets) - 1, dtype=np.uint64)
    for one in range(len(offsets) - 1):
        word = _mixed(np.uint64(apart[one] + 1) * _FIRST)
        for place in range(offsets[one], offsets[one + 1]):
            word = _mixed(word + _FIRST * np.uint64(items[place] + 1))
        hashes[one] = word
    return hashes


@compiled
def number_sets(offsets, items, apart, hashes, order):
    """Number equal sets alike, going through them in the order of their hashes; return the numbers, and one of each."""
    number = np.empty(len(order), dtype=np.int64)
    first = np.empty(len(order), dtype=np.int64)
    found = 0
    for place in range(len(order)):
        one = order[place]
        same = False
        # Sets with one hash are neighbours; different ones among them are all but impossible, and cost a look back.
        back = found - 1
        while back >= 0 and not same and hashes[first[back]] == hashes[one]:
            same = _equal(offsets, items, apart, first[back], one)
            if not same:
                back -= 1
        if not same:
            first[found] = one
            back = found
            found += 1
        number[one] = back
    return number, first[:found].copy()


@compiled
def _equal(offsets, items, apart, one, other):
    length = offsets[one + 1] - offsets[one]
    if apart[one] != apart[other] or offsets[other + 1] - offsets[other] != length:
        return False
    same = True
    for step in range(length):
        same = same and items[offsets[one] + step] == items[offsets[other] + step]
    return same


@compiled
def take_sets(offsets, items, chosen):
    """Return the offsets and items of the chosen sets, in the order given."""
    new_offsets = np.zeros(len(chosen) + 1, dtype=np.int64)
    for place in range(len(chosen)):
        one = chosen[place]
        new_offsets[place + 1] = new_offsets[place] + offsets[one + 1] - offsets[one]
    new_items = np.empty(new_offsets[-1], dtype=items.dtype)
    for place in range(len(chosen)):
        one = chosen[place]
        new_items[new_offsets[place] : new_offsets[place + 1]] = items[offsets[one] : offsets[one + 1]]
    return new_offsets, new_items


@compiled
def shown_sets(offsets, shown):
    """Return the offsets and items of sets of nodes: sorted, each once, and without 0, which stands for nothing."""
    new_offsets = np.zeros(len(offsets), dtype=np.int64)
    new_items = np.empty(len(shown), dtype=np.int32)
    used = 0
    for one in range(len(offsets) - 1):
        begin = used
        for place in range(offsets[one], offsets[one + 1]):
            node = shown[place]
            if node == 0:
                continue
            hole = used
            while hole > begin and new_items[hole - 1] > node:
                hole -= 1
            if hole > begin and new_items[hole - 1] == node:
                continue
            for step in range(used, hole, -1):
                new_items[step] = new_items[step - 1]
            new_items[hole] = node
            used += 1
        new_offsets[one + 1] = used
    return new_offsets, new_items[:used].copy()


@compiled
def holders(offsets, items, size):
    """Return, for each item below `size`, where it is: where its run starts, the sets that have it, and the places."""
    starts = np.zeros(size + 1, dtype=np.int64)
    for place in range(len(items)):
        starts[items[place] + 1] += 1
    starts = np.cumsum(starts)
    following = starts[:-1].copy()
    sets = np.empty(len(items), dtype=np.int32)
    places = np.empty(len(items), dtype=np.int64)
    for one in range(len(offsets) - 1):
        for place in range(offsets[one], offsets[one + 1]):
            sets[following[items[place]]] = one
            places[following[items[place]]] = place
            following[items[place]] += 1
    return starts, sets, places


@compiled
def most_frequent(total, held, values, first):
    """Return how many people have the likeliest sensitive value, and of how many that is a share.

    `held[v]` of the `total` people have the value v. Codes below `first` are missing values that are ignored: those
    who have one are left out, unless there is nobody else; then all are taken to have one and the same value.
    """
    high, of_all = np.int64(0), np.int64(total)
    for value in range(min(first, values)):
        of_all -= held[value]
    for value in range(first, values):
        high = max(high, held[value])
    if of_all == 0:
        return np.int64(total), np.int64(total)
    return high, of_all

"""Find the buckets that people match. Entries and tries are laid out as in `slicing_index.py`.

The entries of a bucket and the children of a node are intersected, level by level; no person is ever compared with
another. `entries` are the values and the shares of their buckets' rows, and `trie` the nodes' values and starts.
"""

from __future__ import annotations

import numpy as np
from numba import njit

TINY = 2.0**-500
"""Products of shares that sink below this are scaled up by as much, so that they never become zero."""


@njit(cache=True)
def _seek(values, place, end, value):
    """Return the first place from here on whose value is not below this one; near places are found soonest."""
    step = 1
    while place + step < end and values[place + step] < value:
        place += step
        step *= 2
    low, high = place, min(place + step, end)
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)
def _longer(array):
    longer = np.empty((2 * array.shape[0], array.shape[1]), dtype=array.dtype)
    longer[: array.shape[0]] = array
    return longer


@njit(cache=True)
def _descend(level, low, high, many, trie, entries, secret_levels, matches, degrees, new_matches, new_degrees):
    """Follow `many` matches of a bucket, whose entries here are `low:high`, to the nodes of the next level.

    `matches[i, 0]` is the node that match i has reached and `matches[i, 1 + a]` the entry in the column of secret a.
    `degrees[i, 0]` is the product of the entries' shares so far, `degrees[i, 1]` how often it was scaled up, so that it
    never sinks to zero. Return the new matches, the new degrees, and how many they are.
    """
    node_values, node_starts = trie
    values, shares = entries
    found = 0
    for match in range(many):
        node = matches[match, 0]
        child, last_child = node_starts[node], node_starts[node + 1]
        entry = low
        while entry < high and child < last_child:
            if node_values[child] < values[entry]:
                child = _seek(node_values, child, last_child, values[entry])
            elif node_values[child] > values[entry]:
                entry = _seek(values, entry, high, node_values[child])
            else:
                if found == len(new_matches):
                    new_matches, new_degrees = _longer(new_matches), _longer(new_degrees)
                new_matches[found, 0] = child
                for secret in range(len(secret_levels)):
                    here = secret_levels[secret] == level
                    new_matches[found, 1 + secret] = entry if here else matches[match, 1 + secret]
                degree, scaled = degrees[match, 0] * shares[entry], degrees[match, 1]
                if degree < TINY:
                    degree, scaled = degree / TINY, scaled + 1
                new_degrees[found, 0], new_degrees[found, 1] = degree, scaled
                found += 1
                entry += 1
                child += 1
    return new_matches, new_degrees, found


@njit(cache=True)
def match_root(
    root, list_first, list_last, listed, entry_buckets, levels, trie, starts, entries, columns, secret_levels
):
    """Find all matches of the people below one root: who, in which bucket's entries, and how well.

    `listed[list_first:list_last]` are the entries with the root's value, and `entry_buckets` their buckets. Return the
    matches grouped by leaf: the first leaf, where each leaf's matches start, the matches, and their degrees.
    """
    shares = entries[1]
    width, depth = 1 + len(secret_levels), len(columns)
    matches, new_matches = np.empty((64, width), dtype=np.int64), np.empty((64, width), dtype=np.int64)
    degrees, new_degrees = np.empty((64, 2)), np.empty((64, 2))
    all_matches, all_degrees = np.empty((256, width), dtype=np.int64), np.empty((256, 2))
    total = 0
    for item in range(list_first, list_last):
        entry = listed[item]
        bucket = entry_buckets[entry]
        matches[0, 0] = root
        for secret in range(width - 1):
            matches[0, 1 + secret] = entry
        degrees[0, 0], degrees[0, 1] = shares[entry], 0.0
        many = 1
        for level in range(1, depth):
            low, high = starts[columns[level], bucket], starts[columns[level], bucket + 1]
            new_matches, new_degrees, found = _descend(
                level, low, high, many, trie, entries, secret_levels, matches, degrees, new_matches, new_degrees
            )
            matches, new_matches, degrees, new_degrees = new_matches, matches, new_degrees, degrees
            many = found
            if many == 0:
                break
        while total + many > len(all_matches):
            all_matches, all_degrees = _longer(all_matches), _longer(all_degrees)
        for match in range(many):
            for place in range(width):
                all_matches[total, place] = matches[match, place]
            all_degrees[total, 0], all_degrees[total, 1] = degrees[match, 0], degrees[match, 1]
            total += 1
    first, last = root, root + 1
    for _ in range(1, depth):
        first, last = trie[1][first], trie[1][last]
    leaf_starts = np.zeros(last - first + 1, dtype=np.int64)
    for match in range(total):
        leaf_starts[all_matches[match, 0] - first + 1] += 1
    leaf_starts = np.cumsum(leaf_starts)
    nxt = leaf_starts.copy()
    by_leaf = np.empty(total, dtype=np.int64)
    for match in range(total):
        leaf = all_matches[match, 0] - first
        by_leaf[nxt[leaf]] = match
        nxt[leaf] += 1
    return first - levels[depth - 1], leaf_starts, by_leaf, all_matches, all_degrees


@njit(cache=True)
def count_matches(listed, list_starts, entry_buckets, levels, trie, starts, entries, columns):
    """Return how many buckets each leaf matches, and how many leaves match each bucket."""
    of_leaf = np.zeros(levels[len(columns)] - levels[len(columns) - 1], dtype=np.int64)
    of_bucket = np.zeros(starts.shape[1] - 1, dtype=np.int64)
    first_level = np.zeros(1, dtype=np.int64)
    for root in range(levels[1]):
        value = trie[0][root]
        first, leaf_starts, by_leaf, matches, _ = match_root(
            root, list_starts[value], list_starts[value + 1], listed, entry_buckets, levels, trie, starts, entries,
            columns, first_level,
        )  # fmt: skip
        for leaf in range(len(leaf_starts) - 1):
            of_leaf[first + leaf] = leaf_starts[leaf + 1] - leaf_starts[leaf]
        for place in range(len(by_leaf)):
            of_bucket[entry_buckets[matches[by_leaf[place], 1]]] += 1
    return of_leaf, of_bucket

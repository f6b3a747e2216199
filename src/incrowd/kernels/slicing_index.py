"""List the values of buckets, and arrange people as a trie: what `slicing_matches.py` searches.

Column values are numbers. The values of bucket b in column c are the *entries* `starts[c, b]:starts[c, b + 1]`, in
ascending order. People are the leaves of a trie whose levels are columns: node n of level j has a value in that level's
column and, on the next level, the children `starts[n]:starts[n + 1]`, in ascending order too. All levels lie
one after the other; level j begins at `levels[j]`.
"""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled


@compiled
def sort_by_key(order, keys, size):
    """Sort a list of items by a key below `size`, keeping the order of equal ones."""
    nxt = np.zeros(size + 1, dtype=np.int64)
    for place in range(len(order)):
        nxt[keys[order[place]] + 1] += 1
    for key in range(size):
        nxt[key + 1] += nxt[key]
    result = np.empty_like(order)
    for place in range(len(order)):
        key = keys[order[place]]
        result[nxt[key]] = order[place]
        nxt[key] += 1
    return result


@compiled
def count_entries(order, buckets, values, counts, number):
    """Join neighbours in the same bucket with the same value to entries.

    Return where buckets start, the entries' values and counts, and the entry of each item.
    """
    starts = np.zeros(number + 1, dtype=np.int64)
    entry_of = np.empty(len(order), dtype=np.int64)
    entry_values = np.empty(len(order), dtype=np.int32)
    entry_counts = np.empty(len(order), dtype=np.int64)
    used = 0
    last_bucket = -1
    for place in range(len(order)):
        item = order[place]
        if buckets[item] != last_bucket or entry_values[used - 1] != values[item]:
            last_bucket = buckets[item]
            entry_values[used] = values[item]
            entry_counts[used] = 0
            used += 1
            starts[last_bucket + 1] += 1
        entry_counts[used - 1] += counts[item]
        entry_of[item] = used - 1
    return np.cumsum(starts), entry_values[:used].copy(), entry_counts[:used].copy(), entry_of


@compiled
def grow_trie(order, known, columns):
    """Make a trie of the rows of `known` in sorted `order`; return each row's leaf, and the trie.

    The latter is where levels begin, the nodes' values, where their children start, and the first leaf below each.
    """
    rows, depth = len(order), len(columns)
    # A row opens new nodes from the first column on in which it differs from the row before.
    opens = np.empty(rows, dtype=np.int64)
    sizes = np.zeros(depth + 1, dtype=np.int64)
    for place in range(rows):
        level = 0
        if place > 0:
            while level < depth and known[order[place], columns[level]] == known[order[place - 1], columns[level]]:
                level += 1
        opens[place] = level
        for deeper in range(level, depth):
            sizes[deeper + 1] += 1
    levels = np.cumsum(sizes)
    values = np.empty(levels[depth], dtype=np.int32)
    starts = np.empty(levels[depth] + 1, dtype=np.int64)
    used = levels[:depth].copy()
    leaf = np.empty(rows, dtype=np.int64)
    for place in range(rows):
        for level in range(opens[place], depth):
            values[used[level]] = known[order[place], columns[level]]
            if level + 1 < depth:
                starts[used[level]] = used[level + 1]
            used[level] += 1
        leaf[order[place]] = used[depth - 1] - 1 - levels[depth - 1]
    # The node after a level's last one is the next level's first, whose children begin where that level ends.
    starts[levels[depth - 1]] = levels[depth]
    first_leaves = np.arange(levels[depth])
    for node in range(levels[depth - 1] - 1, -1, -1):
        first_leaves[node] = first_leaves[starts[node]]
    return leaf, levels, values, starts, first_leaves

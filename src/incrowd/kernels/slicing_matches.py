"""Find the buckets that people match. Entries and tries are laid out as in `slicing_index.py`.

The entries of a bucket and the children of a node are intersected, level by level; no person is ever compared with
another. `entries` are the values and the shares of their buckets' rows, and `trie` the nodes' values, their starts,
and the first leaf below each. `listed` are the first column's entries, value by value; where each value's begin; and
each entry's bucket.
"""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled

TINY = 2.0**-500
"""Products of shares that sink below this are scaled up by as much, so that they never become zero."""


@compiled
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


@compiled
def _longer(array):
    longer = np.empty((2 * array.shape[0], array.shape[1]), dtype=array.dtype)
    for row in range(array.shape[0]):  # assigning a slice takes seconds to compile
        for column in range(array.shape[1]):
            longer[row, column] = array[row, column]
    return longer


@compiled
def _descend(level, low, high, many, trie, node_low, node_high, entries, secret_levels, old, old_degrees, new, degrees):
    """Follow `many` matches of a bucket, whose entries here are `low:high`, to the nodes of the next level.

    `old[i, 0]` is the node that match i has reached and `old[i, 1 + a]` the entry in the column of secret a.
    `old_degrees[i, 0]` is the product of the entries' shares so far, `old_degrees[i, 1]` how often it was scaled up, so
    that it never sinks to zero. Only the nodes `node_low:node_high` are looked at. Return the new matches and degrees,
    and how many they are.
    """
    node_values, node_starts = trie[0], trie[1]
    values, shares = entries
    found = 0
    for match in range(many):
        node = old[match, 0]
        child, last_child = max(node_starts[node], node_low), min(node_starts[node + 1], node_high)
        entry = low
        while entry < high and child < last_child:
            if node_values[child] < values[entry]:
                child = _seek(node_values, child, last_child, values[entry])
            elif node_values[child] > values[entry]:
                entry = _seek(values, entry, high, node_values[child])
            else:
                if found == len(new):
                    new, degrees = _longer(new), _longer(degrees)
                new[found, 0] = child
                for secret in range(len(secret_levels)):
                    new[found, 1 + secret] = entry if secret_levels[secret] == level else old[match, 1 + secret]
                degree, scaled = old_degrees[match, 0] * shares[entry], old_degrees[match, 1]
                if degree < TINY:
                    degree, scaled = degree / TINY, scaled + 1
                degrees[found, 0], degrees[found, 1] = degree, scaled
                found += 1
                entry += 1
                child += 1
    return new, degrees, found


@compiled
def _node_ranges(leaf_low, leaf_high, levels, first_leaves):
    """Return, level by level, which nodes have any of these leaves below them."""
    depth = len(levels) - 1
    ranges = np.empty((depth, 2), dtype=np.int64)
    for level in range(depth):
        first, last = levels[level], levels[level + 1]
        ranges[level, 0] = _seek(first_leaves, first, last, leaf_low + 1) - 1
        ranges[level, 1] = _seek(first_leaves, first, last, leaf_high)
    return ranges


@compiled
def _match(root, leaf_low, leaf_high, most, listed, levels, trie, starts, entries, columns, secret_levels):
    """Find the matches of some leaves below a root, unless they are more than `most`: then return that, and nothing."""
    order, list_starts, entry_buckets = listed
    shares = entries[1]
    width, depth = 1 + len(secret_levels), len(columns)
    ranges = _node_ranges(leaf_low, leaf_high, levels, trie[2])
    matches, new_matches = np.empty((64, width), dtype=np.int64), np.empty((64, width), dtype=np.int64)
    degrees, new_degrees = np.empty((64, 2)), np.empty((64, 2))
    all_matches, all_degrees = np.empty((256, width), dtype=np.int64), np.empty((256, 2))
    total = 0
    value = trie[0][root]
    for item in range(list_starts[value], list_starts[value + 1]):
        entry = order[item]
        bucket = entry_buckets[entry]
        matches[0, 0] = root
        for secret in range(width - 1):
            matches[0, 1 + secret] = entry
        degrees[0, 0], degrees[0, 1] = shares[entry], 0.0
        many = 1
        for level in range(1, depth):
            low, high = starts[columns[level], bucket], starts[columns[level], bucket + 1]
            new_matches, new_degrees, found = _descend(
                level, low, high, many, trie, ranges[level, 0], ranges[level, 1], entries, secret_levels, matches,
                degrees, new_matches, new_degrees,
            )  # fmt: skip
            matches, new_matches, degrees, new_degrees = new_matches, matches, new_degrees, degrees
            many = found
            if many == 0:
                break
        if total + many > most and leaf_high - leaf_low > 1:
            return True, all_matches[:0], all_degrees[:0]
        while total + many > len(all_matches):
            all_matches, all_degrees = _longer(all_matches), _longer(all_degrees)
        for match in range(many):
            for place in range(width):
                all_matches[total, place] = matches[match, place]
            all_degrees[total, 0], all_degrees[total, 1] = degrees[match, 0], degrees[match, 1]
            total += 1
    return False, all_matches[:total], all_degrees[:total]


@compiled
def leaves_of(root, levels, trie):
    """Return the first leaf below a root, and the one after the last."""
    last_root = root + 1 == levels[1]
    return trie[2][root], levels[-1] if last_root else trie[2][root + 1]


@compiled
def match_leaves(root, leaf, step, most, listed, levels, trie, starts, entries, columns, secret_levels):
    """Find the matches of `step` leaves below one root, or of fewer if there are too many to hold at once.

    Return how many leaves that was; where each one's matches start in the list that follows; that list, of places in
    the matches; and the matches and their degrees, as `_descend` has them.
    """
    end = leaves_of(root, levels, trie)[1]
    while True:
        last = min(leaf + step, end)
        too_many, matches, degrees = _match(
            root, leaf, last, most, listed, levels, trie, starts, entries, columns, secret_levels
        )
        if not too_many:
            break
        step = max((last - leaf) // 4, 1)
    leaf_starts = np.zeros(last - leaf + 1, dtype=np.int64)
    for match in range(len(matches)):
        leaf_starts[matches[match, 0] - leaf + 1] += 1
    leaf_starts = np.cumsum(leaf_starts)
    nxt = leaf_starts.copy()
    by_leaf = np.empty(len(matches), dtype=np.int64)
    for match in range(len(matches)):
        place = matches[match, 0] - leaf
        by_leaf[nxt[place]] = match
        nxt[place] += 1
    return last - leaf, leaf_starts, by_leaf, matches, degrees


@compiled
def count_matches(most, listed, levels, trie, starts, entries, columns):
    """Return how many buckets each leaf matches, and how many leaves match each bucket."""
    first_leaf = levels[-2]
    of_leaf = np.zeros(levels[-1] - first_leaf, dtype=np.int64)
    of_bucket = np.zeros(starts.shape[1] - 1, dtype=np.int64)
    first_level = np.zeros(1, dtype=np.int64)
    for root in range(levels[1]):
        leaf, end = leaves_of(root, levels, trie)
        step = end - leaf
        while leaf < end:
            step, leaf_starts, _, matches, _ = match_leaves(
                root, leaf, step, most, listed, levels, trie, starts, entries, columns, first_level
            )
            for place in range(step):
                of_leaf[leaf - first_leaf + place] = leaf_starts[place + 1] - leaf_starts[place]
            for match in range(len(matches)):
                of_bucket[listed[2][matches[match, 1]]] += 1
            leaf += step
    return of_leaf, of_bucket

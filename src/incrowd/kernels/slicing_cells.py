"""List the buckets that people match, each with the degree. Everything is laid out as in `slicing_matches.py`."""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled
from incrowd.kernels.slicing_matches import TINY, leaves_of, match_leaves


@compiled
def list_matches(most, listed, levels, trie, starts, entries, columns, secret_levels):
    """Return each match's leaf (from 0 on), its entry in the column of the secret, and its degree.

    Degrees of one leaf that are too small for a float are scaled up alike, so that only those vanish that are nothing
    beside its others.
    """
    first_leaf = levels[-2]
    leaves, cells, found_degrees = (
        np.empty(1024, dtype=np.int64),
        np.empty(1024, dtype=np.int64),
        np.empty(1024, dtype=np.float64),
    )
    found = 0
    for root in range(levels[1]):
        leaf, end = leaves_of(root, levels, trie)
        step = end - leaf
        while leaf < end:
            step, leaf_starts, by_leaf, matches, degrees = match_leaves(
                root, leaf, step, most, listed, levels, trie, starts, entries, columns, secret_levels
            )
            while found + len(matches) > len(leaves):
                leaves = np.concatenate((leaves, np.empty_like(leaves)))
                cells = np.concatenate((cells, np.empty_like(cells)))
                found_degrees = np.concatenate((found_degrees, np.empty_like(found_degrees)))
            for place in range(step):
                least_scaled = np.inf
                for item in range(leaf_starts[place], leaf_starts[place + 1]):
                    least_scaled = min(least_scaled, degrees[by_leaf[item], 1])
                for item in range(leaf_starts[place], leaf_starts[place + 1]):
                    match = by_leaf[item]
                    leaves[found] = leaf - first_leaf + place
                    cells[found] = matches[match, 1]
                    found_degrees[found] = degrees[match, 0] * TINY ** (degrees[match, 1] - least_scaled)
                    found += 1
            leaf += step
    return leaves[:found], cells[:found], found_degrees[:found]

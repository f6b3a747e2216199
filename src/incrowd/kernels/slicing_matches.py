"""Find the buckets that people match. Entries and tries are laid out as in `slicing_index.py`.

The entries of a bucket and the children of a node are intersected, level by level; no person is ever compared with
another. `entries` are the values and the shares of their buckets' rows, and `trie` the nodes' values, their starts,
and the first leaf below each. `listed` are the first column's entries, value by value; where each value's begin; and
each entry's bucket. The loops are in `native/slicing_matches.hpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.common.threads import threads
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Codes, Counts, Floats, Ints

    Listed = tuple[Ints, Ints, Ints]
    Nodes = tuple[Codes, Ints, Ints]
    Entries = tuple[Codes, Floats]


def leaves_of(root: int, levels: Ints, trie: Nodes) -> tuple[int, int]:
    """Return the first leaf below a root, and the one after the last."""
    last_root = root + 1 == levels[1]
    return int(trie[2][root]), int(levels[-1] if last_root else trie[2][root + 1])


def match_leaves(
    root: int, leaf: int, step: int, most: int, listed: Listed, levels: Ints, trie: Nodes, starts: Ints,
    entries: Entries, columns: Ints, secret_levels: Ints,
) -> tuple[int, Ints, Ints, Ints, Floats]:  # fmt: skip
    """Find the matches of `step` leaves below one root, or of fewer if there are too many to hold at once.

    Return how many leaves that was; where each one's matches start in the list that follows; that list, of places in
    the matches; the matches and their degrees. `matches[i, 0]` is the leaf of match i and `matches[i, 1 + a]` the entry
    in the column of secret a. `degrees[i, 0]` is the product of the entries' shares, `degrees[i, 1]` how often it was
    scaled up, by 2**500, so that it never sinks to zero.
    """
    found: tuple[int, Ints, Ints, Ints, Floats] = call(
        "match_leaves", root, leaf, step, most, *listed, levels, *trie, starts, *entries, columns, secret_levels
    )
    return found


def count_matches(
    most: int, listed: Listed, levels: Ints, trie: Nodes, starts: Ints, entries: Entries, columns: Ints
) -> tuple[Counts, Counts]:
    """Return how many buckets each leaf matches, and how many leaves match each bucket."""
    of_leaf = np.zeros(levels[-1] - levels[-2], dtype=np.int64)
    of_bucket = np.zeros(starts.shape[1] - 1, dtype=np.int64)
    call("count_matches", most, *listed, levels, *trie, starts, *entries, columns, of_leaf, of_bucket, threads())
    return of_leaf, of_bucket

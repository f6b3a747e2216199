"""List the values of buckets, and arrange people as a trie: what `slicing_matches.py` searches.

Column values are numbers. The values of bucket b in column c are the *entries* `starts[c, b]:starts[c, b + 1]`, in
ascending order. People are the leaves of a trie whose levels are columns: node n of level j has a value in that level's
column and, on the next level, the children `starts[n]:starts[n + 1]`, in ascending order too. All levels lie
one after the other; level j begins at `levels[j]`. The loops are in `native/slicing_index.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.common.threads import threads
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Codes, Counts, Ints


def sort_by_key(order: Ints, keys: Codes | Ints, size: int) -> Ints:
    """Sort a list of items by a key below `size`, keeping the order of equal ones."""
    result = np.empty_like(order)
    loop = "sort_by_short_key" if keys.dtype == np.int32 else "sort_by_long_key"
    call(loop, np.ascontiguousarray(order), np.ascontiguousarray(keys), size, result, threads())
    return result


def count_entries(
    order: Ints, buckets: Ints, values: Codes, counts: Counts, number: int
) -> tuple[Ints, Codes, Counts, Ints]:
    """Join neighbours in the same bucket with the same value to entries.

    Return where buckets start, the entries' values and counts, and the entry of each item.
    """
    starts = np.zeros(number + 1, dtype=np.int64)
    entry_values = np.empty(len(order), dtype=np.int32)
    entry_counts, entry_of = np.empty((2, len(order)), dtype=np.int64)
    given = (np.ascontiguousarray(array) for array in (buckets, values, counts))
    used = call("count_entries", order, *given, starts, entry_values, entry_counts, entry_of)
    return starts, entry_values[:used].copy(), entry_counts[:used].copy(), entry_of


def grow_trie(order: Ints, known: Codes, columns: Ints) -> tuple[Ints, Ints, Codes, Ints, Ints]:
    """Make a trie of the rows of `known` in sorted `order`; return each row's leaf, and the trie.

    The latter is where levels begin, the nodes' values, where their children start, and the first leaf below each.
    """
    known = np.ascontiguousarray(known)
    opens, leaf = np.empty((2, len(order)), dtype=np.int64)
    levels = np.zeros(len(columns) + 1, dtype=np.int64)
    call("open_nodes", order, known, columns, opens, levels)
    nodes = int(levels[-1])
    values = np.empty(nodes, dtype=np.int32)
    starts, first_leaves = np.empty(nodes + 1, dtype=np.int64), np.empty(nodes, dtype=np.int64)
    call("grow_trie", order, known, columns, opens, levels, leaf, values, starts, first_leaves)
    return leaf, levels, values, starts, first_leaves

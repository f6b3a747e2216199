"""The nodes of a tree by number: what a set of items shows.

Levels of a tree repeat a node where it has only one child. Here every run of codes is one node, however many levels
have it, so that going one step up always shows less.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from incrowd.common.arrays import Codes, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.hierarchies.tree import MISSING, Tree

NOTHING = 0
"""The number that stands for no node: nothing is shown. It is the code of the missing value, which is no item."""
_NO_PARENT = -1


@dataclass(frozen=True, eq=False)
class Nodes:
    """The distinct nodes of a tree of items. Node n holds the codes from `lows[n]` to `highs[n]`, not included.

    A leaf has the number of its code; nodes above follow, small ones first, and the root comes last. `parents[n]` is
    the next larger node, -1 for the root. The missing value (code 0) belongs to no node: it says of nobody that they
    have an item. A tree with a single item has a root of its own all the same.
    """

    tree: Tree
    lows: Codes
    highs: Codes
    parents: Ints

    @classmethod
    def of(cls, tree: Tree) -> Nodes:
        """Number the nodes of a tree.

        >>> from incrowd.hierarchies.categories import Categories
        >>> import polars as pl
        >>> tree, _ = Categories.from_tree({"fruit": ["apple", "pear"], "milk": ["milk"]}).build("item", pl.Series([]))
        >>> nodes = Nodes.of(tree)
        >>> [(int(low), int(high)) for low, high in zip(nodes.lows, nodes.highs)]
        [(0, 1), (1, 2), (2, 3), (3, 4), (1, 3), (1, 4)]
        """
        size = tree.size
        leaves = np.arange(size, dtype=np.int64)
        starts = np.maximum(tree.starts[:, 1:], 1).astype(np.int64)
        runs = np.unique((tree.ends[:, 1:].astype(np.int64) - starts) * (size + 1) + starts)  # small ones first
        lengths, lows = np.divmod(runs, size + 1)
        above = (lengths > 1) & (lengths < size - 1)
        lows = np.concatenate((leaves, lows[above], [1]))
        highs = np.concatenate((leaves + 1, lows[size:-1] + lengths[above], [size]))
        return cls(tree, lows.astype(np.int32), highs.astype(np.int32), _parents(lows, highs))

    @classmethod
    def flat(cls, tree: Tree) -> Nodes:
        """Number the items of a tree and its root, and nothing between."""
        leaves = np.arange(tree.size)
        lows = np.append(leaves, 1)
        highs = np.append(leaves + 1, tree.size)
        return cls(tree, lows.astype(np.int32), highs.astype(np.int32), _parents(lows, highs))

    def __len__(self) -> int:
        return len(self.lows)

    @property
    def size(self) -> int:
        """Number of codes, missing included: the nodes below it are leaves."""
        return self.tree.size

    @property
    def root(self) -> int:
        """The node that holds all items."""
        return len(self) - 1

    @cached_property
    def penalties(self) -> Floats:
        """How much is lost of an item that is shown as each node: 0 for the item itself, else the share of all items
        that the node holds; 1 for `NOTHING` (Terrovitis, Mamoulis & Kalnis 2008).
        """
        held = (self.highs - self.lows).astype(np.float64)
        penalty = np.where(held > 1, held / max(self.size - 1, 1), 0.0)
        penalty[self.root] = 1.0
        penalty[NOTHING] = 1.0
        return penalty

    @cached_property
    def children(self) -> tuple[Ints, Ints]:
        """The children of each node, ascending by code: where each one's run starts, and the nodes."""
        below = np.flatnonzero(self.parents >= 0)
        order = below[np.lexsort((self.lows[below], self.parents[below]))]
        starts = np.searchsorted(self.parents[order], np.arange(len(self) + 1))
        return starts.astype(np.int64), order

    def children_of(self, node: int) -> Ints:
        """Return the children of one node."""
        starts, order = self.children
        return order[starts[node] : starts[node + 1]]

    def depths(self) -> Ints:
        """Return how many steps each node is below the root."""
        depth = np.zeros(len(self), dtype=np.int64)
        for node in range(len(self) - 2, -1, -1):  # parents have larger numbers, once leaves are put aside
            depth[node] = depth[self.parents[node]] + 1 if self.parents[node] >= 0 else 0
        return depth


def _parents(lows: Ints, highs: Ints) -> Ints:
    """Return the smallest node that holds each node: the one above it on a stack of open runs."""
    count = len(lows)
    parents = np.full(count, _NO_PARENT, dtype=np.int64)
    order = np.lexsort((-np.arange(count), lows))  # where runs start together, the larger (later) one is outside
    open_runs: list[int] = []
    for node in order.tolist():
        if node == MISSING:
            continue
        while open_runs and highs[open_runs[-1]] <= lows[node]:
            open_runs.pop()
        if open_runs:
            parents[node] = open_runs[-1]
        open_runs.append(node)
    return parents

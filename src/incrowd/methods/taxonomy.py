"""Cuts through columns' hierarchies: every value is shown as the one node of the cut above it, in every row alike.

A taxonomy is a column's hierarchy without what the table cannot tell apart: values that nobody has, and nodes that hold
the same of the table's values as their child. Each node has a number, its parent, the rows under it, and the
information that its children tell about a class attribute and it does not. All of that is known before a search starts,
since it does not depend on the other columns. Cost: levels × values per column, plus one pass over the tally.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Floats, Ints, one_by_one
from incrowd.common.threads import do_together
from incrowd.core.recoding import Recoding
from incrowd.core.tally import Tally, group_tuples
from incrowd.hierarchies.tree import MISSING, Tree
from incrowd.kernels.keys import rank_keys

_DIGITS = 9
NOBODY = np.iinfo(np.int64).max
"""The size of the smallest of no groups."""


class Taxonomy:
    """One column's nodes, numbered level by level from the values up to the root, which is the last.

    `parents[n]` is the node above n (the root is its own), `levels[n]` the lowest level of the hierarchy at which n
    stands, `at_level[level, code]` the node of a code; codes that no row has belong to node -1. `gains[n]` is the
    information gain of splitting n into its children, 0 for a value; `costs[n]` the rows times width that showing n
    adds over showing its children.
    """

    def __init__(self, tally: Tally, column: str, classes: Ints, class_count: int) -> None:
        self.tree: Tree = tally.trees[column]
        codes = tally.column(column)
        self.occupied = np.bincount(codes, minlength=self.tree.size) > 0
        self.at_level, self.parents, self.levels, self._values = _number_nodes(self.tree, self.occupied)
        nodes, counts = _class_counts(self.at_level, codes, classes, class_count, tally.counts)
        rows = np.bincount(nodes, weights=counts, minlength=len(self)).astype(np.int64)
        # Rows × entropy; what a node's children lack of its own is what splitting it gains.
        unknown = _bits(rows) - np.bincount(nodes, weights=_bits(counts), minlength=len(self))
        gains = np.where(self.levels > 0, (unknown - self._sum_children(unknown)) / rows, 0.0)
        penalties = rows * self.tree.widths(*self.runs(np.arange(len(self))))
        # Rounded, so that nodes which gain the same tie, whatever their columns.
        self.gains = np.abs(np.round(gains, _DIGITS))
        self.costs = np.round(penalties - self._sum_children(penalties), _DIGITS)

    def __len__(self) -> int:
        return len(self.parents)

    def _sum_children(self, amounts: Floats) -> Floats:
        return np.bincount(self.parents[:-1], weights=amounts[:-1], minlength=len(self)).astype(np.float64)

    def runs(self, nodes: Ints) -> tuple[Codes, Codes]:
        """Return the run of codes that each node shows; the root leaves missing out where nobody misses a value."""
        lows, highs = self._runs
        return lows[nodes], highs[nodes]

    @cached_property
    def _runs(self) -> tuple[Codes, Codes]:
        member = np.zeros(len(self), dtype=np.int64)
        level, code = np.nonzero(self.at_level >= 0)
        member[self.at_level[level, code]] = code
        lows, highs = (bounds[self.levels, member] for bounds in (self.tree.starts, self.tree.ends))
        if not self.occupied[MISSING]:
            lows = np.where((lows == MISSING) & (highs > 1), 1, lows)
        return lows.astype(np.int32), highs

    def under(self, node: int) -> slice:
        """Return the codes that are under a node; some of them may be nobody's."""
        lows, highs = self._runs
        return slice(int(lows[node]), int(highs[node]))

    @cached_property
    def by_loss(self) -> Ints:
        """The place of each node, where what gains least is first, and of these what costs least."""
        places = np.empty(len(self), dtype=np.int64)
        places[np.lexsort((self.costs, self.gains))] = np.arange(len(self))
        return places

    def cut_at(self, node: int | None) -> Ints:
        """Return the cut of the root alone or, without a node, of all values: each code's node."""
        values = self.at_level[0]
        return values if node is None else np.where(values >= 0, node, values)

    def above(self, cut: Ints) -> Ints:
        """Return, for every code, the parent of the cut's node if all the parent's children are in the cut."""
        parents = self.parents[cut]
        under = np.bincount(parents[cut >= 0], minlength=len(self))
        return np.where((cut >= 0) & (under == self._values)[parents], parents, cut)


def _number_nodes(tree: Tree, occupied: NDArray[np.bool_]) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the node of each code at each level, and each node's parent, lowest level and number of values."""
    at_level = np.full((tree.height + 1, tree.size), -1, dtype=np.int64)
    parents = np.arange(int(occupied.sum()))
    levels, sizes = np.zeros_like(parents), np.ones_like(parents)
    at_level[0, occupied] = parents
    for level in range(1, tree.height + 1):
        below = at_level[level - 1, occupied]
        _, place, values = np.unique(tree.nodes[level, occupied], return_inverse=True, return_counts=True)
        grown = values[place] > sizes[below]  # it holds more of the table's values than its child
        fresh, number = np.unique(place[grown], return_inverse=True)
        nodes = below.copy()
        nodes[grown] = len(parents) + number
        at_level[level, occupied] = nodes
        parents = np.concatenate([parents, len(parents) + np.arange(len(fresh))])
        parents[below[grown]] = nodes[grown]
        sizes = np.concatenate([sizes, values[fresh]])
        levels = np.concatenate([levels, np.full(len(fresh), level)])
    return at_level, parents, levels, sizes


def _class_counts(at_level: Ints, codes: Codes, classes: Ints, class_count: int, counts: Ints) -> tuple[Ints, Ints]:
    """Return how many rows of each class are under each node, without the zeros: the node and the rows."""
    pairs = codes.astype(np.int64) * class_count + classes
    index, first = rank_keys(pairs, at_level.shape[1] * class_count)
    rows = np.bincount(index, weights=counts)
    code, own_class = codes[first], classes[first]
    keys, weights = [], []
    for level, nodes in enumerate(at_level[:, code]):
        new = nodes != at_level[level - 1, code] if level else np.ones(len(nodes), dtype=bool)
        keys.append(nodes[new] * class_count + own_class[new])
        weights.append(rows[new])
    key, index = np.unique(np.concatenate(keys), return_inverse=True)
    return key // class_count, np.bincount(index, weights=np.concatenate(weights)).astype(np.int64)


def _bits(counts: Ints) -> Floats:
    return np.asarray(counts * np.log2(np.maximum(counts, 1)))


class Cuts:
    """One cut per quasi-identifier, and the groups of tuples that show the same nodes."""

    def __init__(self, tally: Tally, columns: tuple[str, ...], classes: Ints, class_count: int) -> None:
        self._tally, self._columns = tally, columns
        self.taxonomies = do_together(
            [partial(Taxonomy, tally, name, classes, class_count) for name in columns], steps=len(tally) * len(columns)
        )
        self.codes = one_by_one(tally.codes_of(columns))
        """The codes of each column."""

    def __len__(self) -> int:
        return len(self._tally)

    def recode(self, cuts: Sequence[Ints]) -> Recoding:
        """Return the recoding that shows these cuts."""
        shown = np.stack([cut.astype(np.int32)[codes] for cut, codes in zip(cuts, self.codes, strict=True)], axis=1)
        group_of, member = group_tuples(shown, [len(taxonomy) for taxonomy in self.taxonomies])
        runs = [
            taxonomy.runs(cut[codes[member]])
            for taxonomy, cut, codes in zip(self.taxonomies, cuts, self.codes, strict=True)
        ]
        lows, highs = (np.stack(bounds, axis=1) for bounds in zip(*runs, strict=True))
        everybody = np.arange(len(group_of))
        return Recoding(everybody, self._tally.counts, group_of, self._columns, lows, highs, "level")


def number_groups(keys: Ints) -> tuple[Ints, int]:
    """Number the groups of tuples with the same keys; return each tuple's group and how many there are."""
    from incrowd.kernels import keys as kernel

    group_of, groups = kernel.number_keys(keys)
    return group_of, int(groups)


def least_elsewhere(sizes: Ints, nodes: Ints, count: int) -> Ints:
    """Return, for each of `count` nodes, the size of the smallest group that shows another node."""
    least = least_within(sizes, nodes, count)
    smallest = int(np.argmin(least))
    others = np.full(count, least[smallest])
    others[smallest] = np.delete(least, smallest).min(initial=NOBODY)
    return others


def least_within(sizes: Ints, nodes: Ints, count: int) -> Ints:
    """Return, for each of `count` nodes, the size of the smallest group that shows it."""
    least = nobody(count)
    np.minimum.at(least, nodes, sizes)
    return least


def nobody(count: int) -> Ints:
    """Return sizes for nodes that no group shows: larger than any."""
    return np.full(count, NOBODY, dtype=np.int64)


def group_values(group_of: Ints, groups: int, values: Ints) -> Ints:
    """Return the value that all tuples of a group share."""
    found = np.empty(groups, dtype=np.int64)
    found[group_of] = values
    return found

"""A column's cut that goes down its hierarchy node by node, and the best of the steps from it.

A step costs what is under its node: tuples are sorted by their values once there were some steps, so that nobody looks
at a whole column again, and only nodes whose groups have changed are scored again. What is left for all nodes is to
find the largest of their scores, and to score them again when the smallest group of the table has become smaller.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from incrowd.common.arrays import Bools, Codes, Ints
from incrowd.methods.taxonomy import NOBODY, Taxonomy, nobody

Step = tuple[float, int, float, int, int]
"""What a step is ranked by, more is better; and minus its column and the node that it specializes."""
_PASSES = 16
"""So often are the tuples under a node looked for in all of a column, before they are sorted."""
_NO_STEP = -1.0
"""The score of a node that cannot be specialized."""


class ColumnSteps:
    """One column's cut, and what is known of the steps from it."""

    def __init__(self, place: int, taxonomy: Taxonomy, codes: Codes) -> None:
        self.taxonomy, self.codes = taxonomy, codes
        root = len(taxonomy) - 1
        self.cut = taxonomy.cut_at(root)
        """The node that each code is shown as."""
        self.open = np.zeros(len(taxonomy), dtype=bool)
        """The nodes of the cut that may be specialized, now or later."""
        self.open[root] = taxonomy.levels[root] > 0
        self._place, self._passes, self._smallest = place, 0, NOBODY
        self.forget()

    def forget(self) -> None:
        """Know nothing of any step."""
        self._least = nobody(len(self.taxonomy))
        """The size of the smallest part of a group, if a node is specialized."""
        self._scores = np.full(len(self.taxonomy), _NO_STEP)

    def tuples_under(self, node: int) -> Ints:
        """Return the tuples that show a node."""
        under = self.taxonomy.under(node)
        self._passes += 1
        if self._passes <= _PASSES:
            return np.flatnonzero((under.start <= self.codes) & (self.codes < under.stop))
        order, starts = self._by_code
        return order[starts[under.start] : starts[under.stop]].astype(np.int64)

    @cached_property
    def _by_code(self) -> tuple[Codes, Ints]:
        """All tuples, sorted by code, and where each code begins."""
        from incrowd.kernels.partition import sort_by_piece

        every = np.arange(len(self.codes))
        order, starts = sort_by_piece(every, self.codes.astype(np.int64), self.taxonomy.tree.size)
        return order.astype(np.int32), starts

    def below(self, codes: Codes, nodes: Ints) -> Ints:
        """Return the node of each of some codes, which show these nodes, if all open ones were specialized."""
        return np.asarray(self.taxonomy.at_level[self.taxonomy.levels[nodes] - self.open[nodes], codes])

    def specialize(self, node: int) -> None:
        """Show a node's children in its place."""
        under = self.taxonomy.under(node)
        self.cut[under] = self.taxonomy.at_level[self.taxonomy.levels[node] - 1, under]
        children = self.cut[under][self.cut[under] >= 0]
        self.open[children] = self.taxonomy.levels[children] > 0
        self.close(np.array([node]))

    def close(self, nodes: Ints) -> None:
        """Let nobody specialize these nodes from now on."""
        self.open[nodes] = False
        self._scores[nodes] = _NO_STEP

    def learn(self, nodes: Ints, sizes: Ints, safe: Bools) -> Ints:
        """Note the parts of groups, if the nodes of these groups are specialized; return the nodes that cannot be."""
        np.minimum.at(self._least, nodes, sizes)
        self._score(nodes[self.open[nodes]])
        unsafe = nodes[~safe]
        self._scores[unsafe] = _NO_STEP
        return unsafe

    def best(self, smallest: int) -> Step | None:
        """Return the best safe step, where the smallest group has so many rows."""
        if smallest != self._smallest:
            self._smallest = smallest
            self._score(np.flatnonzero(self._scores != _NO_STEP))
        score = self._scores.max()
        if score == _NO_STEP:
            return None
        nodes = np.flatnonzero(self._scores == score)
        losses, costs = self._losses(nodes), self.taxonomy.costs[nodes]
        best = np.lexsort((nodes, -costs, losses))[0] if len(nodes) > 1 else 0
        return float(score), -int(losses[best]), float(costs[best]), -self._place, -int(nodes[best])

    def _score(self, nodes: Ints) -> None:
        self._scores[nodes] = self.taxonomy.gains[nodes] / (self._losses(nodes) + 1)

    def _losses(self, nodes: Ints) -> Ints:
        """Return how much smaller the smallest group of the table becomes, if a node is specialized.

        Only groups that show the node change. If the smallest is among them, so is a part that is no larger.
        """
        return np.asarray(self._smallest - np.minimum(self._least[nodes], self._smallest))

"""Steps that replace all children of a node by that node, in a cut for each column: which there are, and the best."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np

from incrowd.common.arrays import Ints
from incrowd.common.records import dataclass
from incrowd.methods.taxonomy import Taxonomy

Step = tuple[bool, float, float, int, int]
"""What a step is ranked by, less is better; its column; and the node that it leads to."""


@dataclass(frozen=True, eq=False)
class ColumnCut:
    """A column's cut, and where it may go: `above` is each code's next node."""

    place: int
    taxonomy: Taxonomy
    cut: Ints
    above: Ints
    nodes: Ints
    """The nodes that steps lead to, in order."""

    @classmethod
    def of(cls, place: int, taxonomy: Taxonomy, cut: Ints) -> ColumnCut:
        """Look up from a cut."""
        above = taxonomy.above(cut)
        return cls(place, taxonomy, cut, above, np.unique(above[above != cut]))

    def after(self, node: int) -> ColumnCut:
        """Go up to one node: nothing changes but what is under its parent."""
        parent = int(self.taxonomy.parents[node])
        cut, above, nodes = self.cut.copy(), self.above.copy(), self.nodes[self.nodes != node]
        cut[self.above == node] = node
        beside = cut[self.taxonomy.under(parent)]
        if parent != node and (self.taxonomy.parents[beside[beside >= 0]] == parent).all():
            above[self.taxonomy.under(parent)] = np.where(beside >= 0, parent, beside)
            nodes = np.insert(nodes, np.searchsorted(nodes, parent), parent)
        return ColumnCut(self.place, self.taxonomy, cut, above, nodes)

    def best(self, larger: Ints) -> Step:
        """Return the best step, if the smallest group becomes so much larger by each."""
        losses, costs = self.taxonomy.gains[self.nodes], self.taxonomy.costs[self.nodes]
        ratios = losses / np.maximum(larger, 1)
        best = np.lexsort((self.nodes, costs, ratios, larger == 0))[0]
        return bool(larger[best] == 0), float(ratios[best]), float(costs[best]), self.place, int(self.nodes[best])

    @cached_property
    def if_nothing_gains(self) -> Step:
        """The best step where none makes the smallest group larger; asked for again and again."""
        node = int(self.nodes[np.argmin(self.taxonomy.by_loss[self.nodes])])
        return True, float(self.taxonomy.gains[node]), float(self.taxonomy.costs[node]), self.place, node


@dataclass(frozen=True, eq=False)
class TableCuts:
    """One cut per column."""

    columns: tuple[ColumnCut, ...]

    @classmethod
    def of(cls, taxonomies: Iterable[Taxonomy], cuts: Iterable[Ints]) -> TableCuts:
        """Look up from some cuts."""
        return cls(tuple(map(ColumnCut.of, itertools.count(), taxonomies, cuts)))

    @property
    def shown(self) -> list[Ints]:
        """The node of each code, by column."""
        return [column.cut for column in self.columns]

    @property
    def open(self) -> list[ColumnCut]:
        """The columns that can go up."""
        return [column for column in self.columns if column.nodes.size]

    def above(self, columns: Sequence[ColumnCut]) -> list[Ints]:
        """Return what is shown if some columns go up, by all of their steps at once."""
        shown = self.shown
        for column in columns:
            shown[column.place] = column.above
        return shown

    def after(self, step: Step) -> TableCuts:
        """Take a step."""
        place, node = step[3:]
        return TableCuts((*self.columns[:place], self.columns[place].after(node), *self.columns[place + 1 :]))

    def if_nothing_gains(self) -> Iterator[TableCuts]:
        """Yield the cuts after one step, after two and so on, where none makes the smallest group larger."""
        cuts = self
        while columns := cuts.open:
            cuts = cuts.after(min(column.if_nothing_gains for column in columns))
            yield cuts

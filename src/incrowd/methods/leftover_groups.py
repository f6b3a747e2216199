"""Groups that each have levels of their own: what they span, what they show and lose, and whether they are safe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from incrowd.common.arrays import Bools, Codes, Floats, Ints
from incrowd.core.groups import Groups, Regions
from incrowd.core.model import Model, satisfies_all
from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.core.tally import group_tuples
from incrowd.methods.lattice import Lattice, Levels, Rows

_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class LocalGroups:
    """Groups of rows, each shown by the lowest allowed nodes that hold all of its members.

    Groups that show the same are one, since a reader cannot tell them apart. `lows` and `highs` are the first and last
    code in each group, the latter included. `judged_by_labels`: some model looks at what groups show, not only at what
    they hold.
    """

    sizes: Ints
    losses: Floats
    lows: Codes
    highs: Codes
    levels: Ints
    failing: Bools

    def __init__(self, lattice: Lattice, group_of: Ints, require: Sequence[Model]) -> None:
        self._lattice, self._require = lattice, tuple(require)
        self._rows = lattice.all_rows()
        self._lowest = np.array([levels[0] for levels in lattice.levels])
        self.highest = np.array([levels[-1] for levels in lattice.levels])
        self.group_of = group_of
        self.judged_by_labels = False
        self._describe()

    def __len__(self) -> int:
        return len(self.sizes)

    def layout(self) -> list[Any]:
        """Return what `kernels/joining.py` needs to know of all groups."""
        lattice = self._lattice
        return [
            self.sizes, self.losses, self.lows, self.highs, self.levels,
            lattice.keys, lattice.flat_losses, lattice.first_keys, self.highest,
        ]  # fmt: skip

    def judge_pairs(self, ones: Ints, others: Ints) -> Bools:
        """Return whether each pair of groups would be safe as one."""
        return self._judge(np.stack([ones, others], axis=1).ravel(), np.arange(0, 2 * len(ones), 2))

    def judge_union(self, members: Ints) -> bool:
        """Return whether some groups would be safe as one."""
        return bool(self._judge(members, np.zeros(1, dtype=np.int64))[0])

    def replace(self, target: Ints) -> Ints:
        """Put each group into another one, or withhold it; return each old group's new number."""
        first_row = np.full(len(self.sizes), -1)
        published = np.flatnonzero(self.group_of >= 0)
        first_row[self.group_of[published[::-1]]] = published[::-1]
        self.group_of = np.where(self.group_of >= 0, target[self.group_of], WITHHELD)
        self._describe()
        moved: Ints = self.group_of[first_row]
        return moved

    def cells(self, levels: Levels) -> Ints:
        """Return a key of the cell of a level vector that each group is in, judged by its last codes."""
        lattice = self._lattice
        return np.asarray(lattice.keys[lattice.keys_of(levels[None])[0] + self.highs].sum(axis=1))

    def kinds(self) -> tuple[Ints, Ints]:
        """Number the different histograms of sensitive values; return each group's and a group of each kind."""
        values = self._values
        hashes = np.zeros(len(values.counts), dtype=np.uint64)
        for column in (*values.sensitive.T, values.counts):
            hashes = (hashes ^ column.astype(np.uint64)) * _SPREAD
            hashes ^= hashes >> np.uint64(29)
        # A sum of hashes does not depend on their order. Two kinds that it takes for one only mislead the search.
        sums = np.add.reduceat(hashes * _SPREAD, self._value_starts[:-1]) if len(hashes) else hashes
        _, examples, kind_of = np.unique(sums, return_index=True, return_inverse=True)
        return kind_of, examples

    def recoding(self) -> Recoding:
        """Return what is published; every group must be safe or withheld."""
        rows = self._rows
        lows, highs = self._runs(self.lows, self.highs)
        return Recoding(
            np.arange(len(rows.counts)), rows.counts, self.group_of, self._lattice.columns, lows, highs, "hierarchy"
        )

    def as_groups(self) -> Groups:
        """Return the groups as models see them."""
        every = np.arange(len(self.sizes))
        return self._unions(every, every)

    def _judge(self, members: Ints, firsts: Ints) -> Bools:
        """Return whether unions would be safe, the groups of each listed from its place in `firsts` on."""
        return satisfies_all(self._require, self._unions(members, firsts)) if len(firsts) else np.ones(0, dtype=bool)

    def _unions(self, members: Ints, firsts: Ints) -> Groups:
        values = self._values
        starts, ends = self._value_starts[members], self._value_starts[members + 1]
        taken = ranges(starts, ends)
        union_of = np.repeat(np.arange(len(firsts)), np.diff(np.append(firsts, len(members))))

        def regions() -> Regions:
            self.judged_by_labels = True
            lows = np.minimum.reduceat(self.lows[members], firsts)
            highs = np.maximum.reduceat(self.highs[members], firsts)
            return Regions(self._lattice.columns, *self._read(*self._runs(lows, highs)))

        return self._lattice.as_groups(
            Rows(values.codes[taken], values.sensitive[taken], values.counts[taken]),
            np.repeat(union_of, ends - starts),
            np.add.reduceat(self.sizes[members], firsts) if len(firsts) else self.sizes,
            regions=regions,
        )

    def _describe(self) -> None:
        self._renumber()
        self._span()
        if self._merge_alike():
            self._span()
        self._count_values()
        self.failing = ~satisfies_all(self._require, self.as_groups())

    def _renumber(self) -> None:
        """Number groups without gaps, in the order of their first row."""
        published = np.flatnonzero(self.group_of >= 0)
        _, first, index = np.unique(self.group_of[published], return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        self.group_of[published] = rank[index]

    def _span(self) -> None:
        rows, lattice = self._rows, self._lattice
        published = np.flatnonzero(self.group_of >= 0)
        order = published[np.argsort(self.group_of[published], kind="stable")]
        starts = np.flatnonzero(np.diff(self.group_of[order], prepend=-1))
        if not len(order):
            self.lows = self.highs = np.empty((0, len(lattice.columns)), dtype=np.int32)
            self.sizes = np.empty(0, dtype=np.int64)
        else:
            self.lows = np.minimum.reduceat(rows.codes[order], starts)
            self.highs = np.maximum.reduceat(rows.codes[order], starts)
            self.sizes = np.add.reduceat(rows.counts[order], starts)
        self.levels = self._levels(self.lows, self.highs)
        self.losses = np.zeros(len(self.sizes))
        for place, losses in enumerate(lattice.losses):
            self.losses += losses[self.levels[:, place], self.highs[:, place]]

    def _levels(self, lows: Codes, highs: Codes) -> Ints:
        """Return the lowest allowed levels that have one node for all codes of each span."""
        levels = np.empty(lows.shape, dtype=np.int64)
        for place, tree in enumerate(self._lattice.trees):
            common = np.argmax(tree.nodes[:, lows[:, place]] == tree.nodes[:, highs[:, place]], axis=0)
            levels[:, place] = np.maximum(common, self._lowest[place])
        return levels

    def _runs(self, lows: Codes, highs: Codes) -> tuple[Codes, Codes]:
        """Return the run of codes that each span is shown as; the root's holds missing only if the span does."""
        levels = self._levels(lows, highs)
        starts, ends = np.empty_like(lows), np.empty_like(highs)
        for place, tree in enumerate(self._lattice.trees):
            low, high, level = lows[:, place], highs[:, place], levels[:, place]
            starts[:, place] = np.where(low == 0, tree.starts[level, low], np.maximum(tree.starts[level, high], 1))
            ends[:, place] = tree.ends[level, high]
        return starts, ends

    def _read(self, starts: Codes, ends: Codes) -> tuple[Codes, Codes]:
        """Return runs as a reader takes them: all known values are written as anything, which may be missing too."""
        lattice = self._lattice
        anything = (ends - starts > 1) & (starts <= 1) & (ends == [tree.size for tree in lattice.trees])
        first = np.array([not lattice.tally.has_missing(name) for name in lattice.columns], dtype=np.int32)
        return np.where(anything, first, starts), ends

    def _merge_alike(self) -> bool:
        """Make one of groups that show the same; return whether there were any."""
        starts, ends = self._read(*self._runs(self.lows, self.highs))
        sizes = np.array([tree.size + 1 for tree in self._lattice.trees])
        alike, kinds = group_tuples(starts * sizes + ends, (sizes**2).tolist())
        if len(kinds) == len(alike):
            return False
        self.group_of = np.where(self.group_of >= 0, alike[self.group_of], WITHHELD)
        self._renumber()
        return True

    def _count_values(self) -> None:
        """Count the combinations of sensitive values in each group."""
        rows, lattice = self._rows, self._lattice
        published = np.flatnonzero(self.group_of >= 0)
        holders = np.concatenate([self.group_of[published, None], rows.sensitive[published]], axis=1)
        index, first = group_tuples(holders, [max(len(self.sizes), 1), *lattice.sensitive_sizes])
        counts = np.bincount(index, weights=rows.counts[published], minlength=len(first)).astype(np.int64)
        kept = published[first]
        self._values = Rows(rows.codes[kept], rows.sensitive[kept], counts)
        self._value_starts = np.searchsorted(self.group_of[kept], np.arange(len(self.sizes) + 1))


def ranges(starts: Ints, ends: Ints) -> Ints:
    """Return the numbers from each start up to its end, one range after the other."""
    lengths = ends - starts
    before = np.cumsum(lengths) - lengths
    return np.asarray(np.arange(lengths.sum()) + np.repeat(starts - before, lengths))

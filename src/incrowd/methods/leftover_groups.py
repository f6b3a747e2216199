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

_VALUES_AT_ONCE = 1 << 21
"""A limit of memory: so many sensitive values of groups are judged at the same time, but at least one pair's."""
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
        self.judged_by_labels = False
        # Each row is a group first: how groups are joined then says what any are.
        every = np.arange(len(self._rows.counts))
        self.group_of, self.sizes = every, self._rows.counts.astype(np.int64)
        self.lows = self.highs = self._rows.codes
        self._values, self._value_starts = self._rows, np.arange(len(every) + 1)
        self._show()
        self._put(group_of)
        self.failing = ~self.judge_unions(*(np.arange(len(self.sizes)),) * 2)

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
        safe = np.empty(len(ones), dtype=bool)
        ends = np.cumsum(np.diff(self._value_starts)[ones] + np.diff(self._value_starts)[others])
        start = 0
        while start < len(ones):
            before = int(ends[start - 1]) if start else 0
            end = max(int(np.searchsorted(ends, before + _VALUES_AT_ONCE, side="right")), start + 1)
            some = np.stack([ones[start:end], others[start:end]], axis=1)
            safe[start:end] = self.judge_unions(some.ravel(), np.arange(0, some.size, 2))
            start = end
        return safe

    def judge_unions(self, members: Ints, firsts: Ints) -> Bools:
        """Return whether unions would be safe, the groups of each listed from its place in `firsts` on."""
        return satisfies_all(self._require, self._unions(members, firsts)) if len(firsts) else np.ones(0, dtype=bool)

    def replace(self, target: Ints) -> Ints:
        """Put each group into another one, or withhold it; return each old group's new number."""
        before = self.failing
        moved = self._put(target)
        stay = moved >= 0
        joined = np.flatnonzero(np.bincount(moved[stay], minlength=len(self.sizes)) > 1)
        self.failing = np.empty(len(self.sizes), dtype=bool)
        self.failing[moved[stay]] = before[stay]
        self.failing[joined] = ~self.judge_unions(joined, np.arange(len(joined)))
        return moved

    def cells(self, levels: Levels) -> Ints:
        """Return a key of the cell of a level vector that each group is in, judged by its last codes."""
        lattice = self._lattice
        return np.asarray(lattice.keys[lattice.keys_of(levels[None])[0] + self.highs].sum(axis=1))

    def kinds(self) -> tuple[Ints, Ints, Ints]:
        """Number the different histograms of sensitive values; return each group's, an example of each, and names."""
        values = self._values
        hashes = np.zeros(len(values.counts), dtype=np.uint64)
        for column in (*values.sensitive.T, values.counts):
            hashes = (hashes ^ column.astype(np.uint64)) * _SPREAD
            hashes ^= hashes >> np.uint64(29)
        # A sum of hashes does not depend on their order. Two kinds that it takes for one only mislead the search.
        sums = np.add.reduceat(hashes * _SPREAD, self._value_starts[:-1]) if len(hashes) else hashes
        names, examples, kind_of = np.unique(sums.view(np.int64), return_index=True, return_inverse=True)
        return kind_of, examples, names

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

    def _put(self, target: Ints) -> Ints:
        """Join or withhold groups; return each old group's new number, in the order of their first rows."""
        moved = _numbered(target)
        self._span(moved)
        while len(labels := np.unique(self._labels, return_inverse=True)[1]) != labels.max(initial=-1) + 1:
            together = _numbered(labels)
            self._span(together)
            moved = np.where(moved >= 0, together[moved], WITHHELD)
        self.group_of = np.where(self.group_of >= 0, moved[self.group_of], WITHHELD)
        self._put_values(moved)
        return moved

    def _span(self, moved: Ints) -> None:
        """Say how many rows groups have, between which codes they lie, and what they show and lose."""
        order = np.argsort(moved, kind="stable")[np.count_nonzero(moved < 0) :]
        starts = np.flatnonzero(np.diff(moved[order], prepend=-1))
        joined = np.flatnonzero(np.diff(np.append(starts, len(order))) > 1)
        first = order[starts]
        members = order[np.repeat(np.diff(np.append(starts, len(order))) > 1, np.diff(np.append(starts, len(order))))]
        within = np.flatnonzero(np.diff(moved[members], prepend=-1))
        sizes, lows, highs = self.sizes[members], self.lows[members], self.highs[members]
        for name in ("sizes", "lows", "highs", "levels", "losses", "_labels"):
            setattr(self, name, getattr(self, name)[first])
        if len(joined):
            self.sizes[joined] = np.add.reduceat(sizes, within)
            self.lows[joined] = np.minimum.reduceat(lows, within)
            self.highs[joined] = np.maximum.reduceat(highs, within)
            self._show(joined)

    def _show(self, some: Ints | slice = slice(None)) -> None:
        """Say what some groups show and lose."""
        lows, highs = self.lows[some], self.highs[some]
        levels = self._levels(lows, highs)
        lost = np.zeros(len(levels))
        for place, losses in enumerate(self._lattice.losses):
            lost += losses[levels[:, place], highs[:, place]]
        if isinstance(some, slice):
            self.levels, self.losses, self._labels = levels, lost, self._label(lows, highs)
        else:
            self.levels[some], self.losses[some], self._labels[some] = levels, lost, self._label(lows, highs)

    def _label(self, lows: Codes, highs: Codes) -> Ints:
        """Return a number for what spans show. Two that get the same by chance are joined, which is safe."""
        labels = np.zeros(len(lows), dtype=np.uint64)
        for run in self._read(*self._runs(lows, highs)):
            for column in run.T:
                labels = (labels ^ column.astype(np.uint64)) * _SPREAD
                labels ^= labels >> np.uint64(29)
        return labels.view(np.int64)

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

    def _put_values(self, moved: Ints) -> None:
        """Count the combinations of sensitive values in each group, from those of its parts."""
        values = self._values
        holder = np.repeat(moved, np.diff(self._value_starts))
        kept = np.flatnonzero(holder >= 0)
        held = np.concatenate([holder[kept, None], values.sensitive[kept]], axis=1)
        index, first = group_tuples(held, [max(len(self.sizes), 1), *self._lattice.sensitive_sizes])
        counts = np.bincount(index, weights=values.counts[kept], minlength=len(first)).astype(np.int64)
        kept = kept[first]
        self._values = Rows(values.codes[kept], values.sensitive[kept], counts)
        self._value_starts = np.searchsorted(holder[kept], np.arange(len(self.sizes) + 1))


def _numbered(target: Ints) -> Ints:
    """Number what groups are put into without gaps, in the order of their first members; -1 is left as it is."""
    published = np.flatnonzero(target >= 0)
    _, first, index = np.unique(target[published], return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    numbers = np.full(len(target), WITHHELD, dtype=np.int64)
    numbers[published] = rank[index]
    return numbers


def ranges(starts: Ints, ends: Ints) -> Ints:
    """Return the numbers from each start up to its end, one range after the other."""
    lengths = ends - starts
    before = np.cumsum(lengths) - lengths
    return np.asarray(np.arange(lengths.sum()) + np.repeat(starts - before, lengths))

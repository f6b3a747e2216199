"""The lattice of level vectors, and an exact search for the best of them.

The search looks at a node (a vector of levels) only if it may still beat the best one found. Three facts bound a node
from below without looking at it. Its loss with nothing withheld is a sum over columns, known beforehand. A row whose
group is too small at a node is in a group at least as small at every more specific node, so what withholding it adds at
one node it adds, at least, at all nodes below. And a node that must withhold more than the limit for that reason rules
out all below it. Nodes are looked at from the top, since each rules out or bounds all below.

Cost: nodes looked at × rows of the table that they are counted from; that table is already grouped by the levels of the
columns with the most values, so it is much smaller than the tally.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import SchemaError, did_you_mean
from incrowd.groups import Groups, Histogram, LazyHistograms
from incrowd.hierarchies.tree import Codes
from incrowd.models.model import Model, satisfies_all
from incrowd.progress import Progress
from incrowd.recoding import WITHHELD, Recoding
from incrowd.tally import Counts, Tally, group_tuples

Levels = NDArray[np.int8]
Floats = NDArray[np.float64]

_COLUMNS_GROUPED_FIRST = 3
_SAME_COST = 1e-12


@dataclass(frozen=True)
class LevelLimits:
    """The lowest and highest level that some columns may have."""

    lowest: Mapping[str, int] = field(default_factory=dict)
    highest: Mapping[str, int] = field(default_factory=dict)

    def of(self, column: str, height: int) -> range:
        """Return the levels that a column may have."""
        lowest, highest = self.lowest.get(column, 0), self.highest.get(column, height)
        if not 0 <= lowest <= highest <= height:
            raise SchemaError(f"column '{column}': levels go from 0 to {height}; {lowest} to {highest} was asked for.")
        return range(lowest, highest + 1)

    def check_names(self, columns: Sequence[str]) -> None:
        """Refuse limits for columns that are not quasi-identifiers."""
        for name in (*self.lowest, *self.highest):
            if name not in columns:
                raise SchemaError(f"'{name}' is not a quasi-identifier.{did_you_mean(name, columns)}")


@dataclass(frozen=True, eq=False)
class Look:
    """What was found at a node: its cost, rows withheld, and the part of both that holds for all nodes below."""

    levels: Levels
    cost: float
    withheld: int
    withheld_below: int
    added_below: float


@dataclass(frozen=True, eq=False)
class _Rows:
    """Distinct rows, each by the leaf codes of one member, its sensitive codes, and how many there are."""

    codes: Codes
    sensitive: Codes
    counts: Counts


class Lattice:
    """All level vectors of some columns, and what is known about them."""

    def __init__(
        self,
        tally: Tally,
        columns: tuple[str, ...],
        sensitive: tuple[str, ...],
        require: Sequence[Model],
        *,
        limit: float,
        weights: Mapping[str, float],
        bounds: LevelLimits,
    ) -> None:
        from incrowd.kernels import lattice, partition  # Numba takes long to import

        bounds.check_names(columns)
        LevelLimits(lowest=dict.fromkeys(weights, 0)).check_names(columns)
        self._kernel, self._partition = lattice, partition
        self._tally, self._columns, self._require = tally, columns, tuple(require)
        self._sensitive = sensitive if any(_looks_at_values(model) for model in require) else ()
        self._whole = {name: tally.value_counts(name) for name in self._sensitive}
        self._trees = [tally.trees[name] for name in columns]
        self._ranges = [bounds.of(name, tree.height) for name, tree in zip(columns, self._trees, strict=True)]
        self._most_withheld = int(np.floor(limit * tally.rows + 1e-9))
        self._min_group = max((model.min_group for model in require), default=1)
        self._hereditary = [model for model in require if model.hereditary]
        self._prunes_by_verdict = self._most_withheld == 0 and all(model.monotone for model in require)
        share = np.array([weights.get(name, 1.0) for name in columns])
        self._shares = share / share.sum() if share.sum() else share
        self._losses = [_level_losses(tally, name) * part for name, part in zip(columns, self._shares, strict=True)]
        self._base = _distinct(
            np.stack([tally.column(name) for name in columns], axis=1),
            _stack([tally.column(name) for name in self._sensitive], len(tally)),
            tally.counts,
            [tree.size for tree in self._trees] + [tally.trees[name].size for name in self._sensitive],
        )
        by_size = sorted(range(len(columns)), key=lambda place: (-self._trees[place].size, columns[place]))
        self._grouped_first = np.array(sorted(by_size[:_COLUMNS_GROUPED_FIRST]))
        self._tables: dict[tuple[int, ...], _Rows] = {}
        size = 1 << int(np.ceil(np.log2(max(2 * len(self._base.counts), 2))))
        self._slots = np.full(size, -1, dtype=np.int64)
        self._slot_keys = np.empty(size, dtype=np.int64)
        self.looks: list[Look] = []

    def nodes(self) -> Levels:
        """Return all level vectors."""
        grids = np.meshgrid(*(np.array(levels, dtype=np.int8) for levels in self._ranges), indexing="ij")
        return np.stack([grid.ravel() for grid in grids], axis=1)

    def search(self, progress: Progress, *, seconds: float | None = None) -> Levels | None:
        """Return the best level vector, or None if no node stays within the limit."""
        end = np.inf if seconds is None else time.monotonic() + seconds
        nodes = self.nodes()
        bound = self._losses_unwithheld(nodes)
        added = np.zeros(len(nodes))
        from_the_top = np.lexsort((bound, -nodes.sum(axis=1, dtype=np.int64)))
        open_nodes = np.ones(len(nodes), dtype=bool)
        best: Look | None = None
        try:
            for place in from_the_top.tolist():
                if not open_nodes[place]:
                    continue
                if time.monotonic() > end:
                    break
                look = self.look(nodes[place], float(bound[place]), best.cost if best else np.inf)
                open_nodes[place] = False
                below = open_nodes.copy()
                for column in range(nodes.shape[1]):
                    below &= nodes[:, column] <= nodes[place, column]
                if look.withheld_below > self._most_withheld:
                    open_nodes &= ~below
                else:
                    added[below] = np.maximum(added[below], look.added_below)
                if look.withheld <= self._most_withheld and (best is None or _better(look, best)):
                    best = look
                if best is not None:
                    open_nodes &= bound + added < best.cost - _SAME_COST
                progress("searching", 1.0 - float(open_nodes.sum()) / len(nodes))
        except KeyboardInterrupt:
            if best is None:
                raise
        return None if best is None else best.levels

    def _losses_unwithheld(self, nodes: Levels) -> Floats:
        total = np.zeros(len(nodes))
        for place, name in enumerate(self._columns):
            means = (self._losses[place] * self._tally.value_counts(name)).sum(axis=1) / self._tally.rows
            total += means[nodes[:, place]]
        return total

    def look(self, levels: Levels, unwithheld: float, to_beat: float = np.inf) -> Look:
        """Count the groups at a node and judge them; skip the models where it cannot beat the best any more."""
        rows = self._table(levels)
        group_of, groups = self._group(rows, levels)
        losses = np.zeros(len(rows.counts))
        for place, level in enumerate(levels):
            losses += self._losses[place][level][rows.codes[:, place]]
        sizes, small, added = self._kernel.total_small(rows.counts, group_of, groups, losses, self._min_group)
        added /= self._tally.rows
        look = Look(levels, unwithheld + added, small, small, added)
        if small > self._most_withheld or look.cost >= to_beat:
            self.looks.append(look)
            return look
        judged = self._groups(rows, group_of, sizes)
        withheld, extra = self._withholding(satisfies_all(self._require, judged), group_of, rows, losses)
        if self._prunes_by_verdict:
            below = (withheld, extra)
        elif self._hereditary:
            below = self._withholding(satisfies_all(self._hereditary, judged), group_of, rows, losses)
        else:
            below = (small, added)
        look = Look(levels, unwithheld + extra, withheld, *below)
        self.looks.append(look)
        return look

    def _withholding(
        self, verdicts: NDArray[np.bool_], group_of: NDArray[np.int64], rows: _Rows, losses: Floats
    ) -> tuple[int, float]:
        """Return how many rows are in failing groups, and what withholding them adds to the loss."""
        failing = ~verdicts[group_of]
        counts = rows.counts[failing]
        return int(counts.sum()), float((counts * (1.0 - losses[failing])).sum()) / self._tally.rows

    def _groups(self, rows: _Rows, group_of: NDArray[np.int64], sizes: Counts) -> Groups:
        by_group: list[NDArray[np.int64]] = []

        def count(name: str) -> Histogram:
            if not by_group:
                by_group.extend(self._partition.sort_by_piece(np.arange(len(group_of)), group_of, len(sizes)))
            order, starts = by_group
            codes = np.ascontiguousarray(rows.sensitive[:, self._sensitive.index(name)])
            every = np.arange(len(sizes))
            itself = np.arange(len(group_of))
            values = self._tally.trees[name].size
            return Histogram(*self._partition.count_values(order, starts, every, itself, rows.counts, codes, values))

        return Groups(sizes, LazyHistograms(self._sensitive, count), self._whole, self._tally.trees)

    def _group(self, rows: _Rows, levels: Levels) -> tuple[NDArray[np.int64], int]:
        """Number the groups of rows at some levels."""
        parts, starts, at, room = [], [], 0, 1
        for place, level in enumerate(levels):
            nodes = self._trees[place].nodes[level].astype(np.int64)
            parts.append(nodes * room)
            starts.append(at)
            at += len(nodes)
            room *= int(nodes.max()) + 1
        group_of = np.empty(len(rows.counts), dtype=np.int64)
        if room >= 2**62:  # more combinations than a key can hold; never with more than a few hundred billion
            codes = np.stack(
                [
                    tree.nodes[level][rows.codes[:, place]]
                    for place, (tree, level) in enumerate(zip(self._trees, levels, strict=True))
                ],
                axis=1,
            )
            index, first = group_tuples(
                codes, [int(tree.nodes[level].max()) + 1 for tree, level in zip(self._trees, levels, strict=True)]
            )
            return index, len(first)
        groups = self._kernel.group_rows(
            rows.codes, np.concatenate(parts), np.array(starts), group_of, self._slots, self._slot_keys
        )
        return group_of, groups

    def _table(self, levels: Levels) -> _Rows:
        """Return the rows grouped by the node's levels of the columns with the most values; others at their lowest."""
        key = tuple(levels[self._grouped_first].tolist())
        if key not in self._tables:
            floor = np.array([levels_of[0] for levels_of in self._ranges], dtype=np.int8)
            floor[self._grouped_first] = key
            codes = np.stack(
                [
                    tree.starts[level][self._base.codes[:, place]]
                    for place, (tree, level) in enumerate(zip(self._trees, floor, strict=True))
                ],
                axis=1,
            )
            # The root's first code is that of missing, which is under no other node: any other member will do.
            self._tables[key] = _distinct(
                codes,
                self._base.sensitive,
                self._base.counts,
                [tree.size for tree in self._trees] + [self._tally.trees[name].size for name in self._sensitive],
            )
        return self._tables[key]

    def recode(self, levels: Levels) -> Recoding:
        """Return the recoding of a level vector: failing groups are withheld."""
        codes = np.stack([self._tally.column(name) for name in self._columns], axis=1)
        rows = _Rows(
            codes, _stack([self._tally.column(name) for name in self._sensitive], len(codes)), self._tally.counts
        )
        group_of, groups = self._group(rows, levels)
        sizes = np.bincount(group_of, weights=rows.counts, minlength=groups).astype(np.int64)
        kept = satisfies_all(self._require, self._groups(rows, group_of, sizes))
        renumbered = np.where(kept, np.cumsum(kept) - 1, WITHHELD)
        first = np.zeros(groups, dtype=np.int64)
        first[group_of] = np.arange(len(group_of))
        lows, highs = [], []
        for place, level in enumerate(levels):
            member = codes[first[kept], place]
            low, high = self._trees[place].starts[level][member], self._trees[place].ends[level][member]
            if not self._tally.has_missing(self._columns[place]):
                low = np.where((low == 0) & (high > 1), 1, low)
            lows.append(low)
            highs.append(high)
        return Recoding(
            np.arange(len(codes)),
            rows.counts,
            renumbered[group_of],
            self._columns,
            np.stack(lows, axis=1).astype(np.int32),
            np.stack(highs, axis=1).astype(np.int32),
            "hierarchy",
        )

    def failure(self) -> str:
        """Say why no node is good enough, and how far the best attempt got."""
        nearest = min(self.looks, key=lambda look: (look.withheld, look.cost))
        names = ", ".join(str(model) for model in self._require)
        share = nearest.withheld / max(self._tally.rows, 1)
        allowed = self._most_withheld / max(self._tally.rows, 1)
        return (
            f"no vector of levels satisfies {names} with at most {allowed:.1%} of the rows withheld; the best of "
            f"{len(self.looks)} looked at would withhold {share:.1%}.  Hint: raise the limit, or ask for less."
        )


def _better(look: Look, best: Look) -> bool:
    """Whether a node is better; equal costs go to the lower levels, so that the order of looking does not matter."""
    if look.cost < best.cost - _SAME_COST:
        return True
    return look.cost <= best.cost + _SAME_COST and tuple(look.levels) < tuple(best.levels)


def _looks_at_values(model: Model) -> bool:
    return model.name != "k-anonymity"


def _stack(columns: list[Codes], rows: int) -> Codes:
    return np.stack(columns, axis=1) if columns else np.empty((rows, 0), dtype=np.int32)


def _distinct(codes: Codes, sensitive: Codes, counts: Counts, sizes: list[int]) -> _Rows:
    """Add up rows that are the same."""
    index, first = group_tuples(np.concatenate([codes, sensitive], axis=1), sizes)
    totals = np.bincount(index, weights=counts, minlength=len(first)).astype(np.int64)
    return _Rows(np.ascontiguousarray(codes[first]), np.ascontiguousarray(sensitive[first]), totals)


def _level_losses(tally: Tally, name: str) -> Floats:
    """Return the certainty penalty of every code at every level."""
    tree = tally.trees[name]
    lows = tree.starts.copy()
    if not tally.has_missing(name):
        lows[-1, 1:] = min(1, tree.size - 1)  # the root does not hold missing where nothing is
    return np.stack([tree.widths(low, high) for low, high in zip(lows, tree.ends, strict=True)])

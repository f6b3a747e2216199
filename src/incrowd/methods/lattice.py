"""The lattice of level vectors: what a vector loses, which groups it makes, and which of them are safe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Counts, Floats, Ints
from incrowd.common.keys import numbers_to_add
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups, Histogram, LazyHistograms, Regions
from incrowd.core.model import Model, any_looks_at_values
from incrowd.core.tally import Tally, group_tuples
from incrowd.errors import SchemaError, did_you_mean
from incrowd.methods.losses import CellLosses, certainty_penalty

Levels = NDArray[np.int8]


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


def require_known(named: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse weights or limits for columns that are not quasi-identifiers."""
    for name in named:
        if name not in columns:
            raise SchemaError(f"'{name}' is not a quasi-identifier.{did_you_mean(name, columns)}")


@dataclass(frozen=True, eq=False)
class Rows:
    """Distinct rows: the leaf codes of one member each, sensitive codes, and how many rows there are."""

    codes: Codes
    sensitive: Codes
    counts: Counts


class Lattice:
    """All level vectors of some columns of a tally."""

    def __init__(
        self,
        tally: Tally,
        columns: tuple[str, ...],
        sensitive: tuple[str, ...],
        require: Sequence[Model],
        *,
        weights: Mapping[str, float] | None = None,
        bounds: LevelLimits | None = None,
        cells: Callable[[Tally, str], CellLosses] = certainty_penalty,
    ) -> None:
        from incrowd.kernels import lattice, partition

        weights, bounds = weights or {}, bounds or LevelLimits()
        require_known([*weights, *bounds.lowest, *bounds.highest], columns)
        self.kernel, self._partition = lattice, partition
        self.tally, self.columns = tally, columns
        # Without a model that looks at values, rows need not be told apart by them.
        self._sensitive = sensitive if any_looks_at_values(require) else ()
        self._whole = {name: tally.table_counts(name) for name in self._sensitive}
        self.trees = [tally.trees[name] for name in columns]
        self.levels = [bounds.of(name, tree.height) for name, tree in zip(columns, self.trees, strict=True)]
        self.losses, self.kept = _weigh([cells(tally, name) for name in columns], tally, columns, weights)
        self._lay_out_keys()
        self.rows = self.distinct(
            tally.codes_of(columns),
            _stack([tally.column(name) for name in self._sensitive], len(tally)),
            tally.counts,
        )
        size = 1 << int(np.ceil(np.log2(max(2 * len(tally), 2))))  # no table of rows is longer than the tally
        self.slots, self.slot_keys = np.full(size, -1, dtype=np.int64), np.empty(size, dtype=np.int64)
        self.used = np.empty(max(len(tally), 1), dtype=np.int64)

    def _lay_out_keys(self) -> None:
        """Give every node of every level a number, so that the sum over columns is a different one for each group.

        Where there are more combinations than numbers, the numbers are random: two groups have the same sum with a
        chance of 2⁻⁶⁴, and a search would take them for one. What is published is grouped without them.
        """
        sizes = [tree.size for tree in self.trees] + self.sensitive_sizes
        numbers = numbers_to_add(sizes)
        # Sensitive columns are never generalized: one level each, behind those of the quasi-identifiers.
        nodes_of = [tree.nodes for tree in self.trees]
        nodes_of += [np.arange(size, dtype=np.int32)[None] for size in self.sensitive_sizes]
        keys, at = [], 0
        self.first_keys = np.zeros((len(nodes_of), max(len(nodes) for nodes in nodes_of)), dtype=np.int64)
        for place, (nodes, of_column) in enumerate(zip(nodes_of, numbers, strict=True)):
            levels, size = nodes.shape
            keys.append(of_column[nodes].ravel())
            self.first_keys[place, :levels] = at + size * np.arange(levels)
            at += levels * size
        self.keys = np.concatenate(keys).astype(np.int64)

    @property
    def sensitive_sizes(self) -> list[int]:
        """Number of codes of each sensitive column that rows are told apart by."""
        return [self.tally.trees[name].size for name in self._sensitive]

    @cached_property
    def flat_losses(self) -> Floats:
        """What each code loses at each level, in the places of `keys`."""
        return np.concatenate([losses.ravel() for losses in self.losses])

    def nodes(self, levels: Sequence[Levels] | None = None) -> Levels:
        """Return all level vectors, or all of some levels of each column."""
        each = [np.array(allowed, dtype=np.int8) for allowed in self.levels] if levels is None else levels
        grids = np.meshgrid(*each, indexing="ij")
        return np.stack([grid.ravel() for grid in grids], axis=1)

    def mean_steps(self) -> list[Floats]:
        """Return what each level of each column adds to the loss of all rows, nothing being withheld."""
        return [
            (losses * self.tally.value_counts(name)).sum(axis=1) / max(self.tally.rows, 1)
            for losses, name in zip(self.losses, self.columns, strict=True)
        ]

    def mean_losses(self, nodes: Levels) -> Floats:
        """Return what each vector loses if nothing is withheld, as a mean over all rows."""
        total = np.zeros(len(nodes))
        for place, steps in enumerate(self.mean_steps()):
            total += steps[nodes[:, place]]
        return total

    def keys_of(self, nodes: Levels) -> Ints:
        """Return where each vector's keys start, column by column."""
        return np.asarray(self.first_keys[np.arange(nodes.shape[1]), nodes])

    def group(self, rows: Rows, levels: Levels) -> tuple[Ints, int]:
        """Number the groups of rows at some levels."""
        nodes = [
            tree.nodes[level, rows.codes[:, at]]
            for at, (tree, level) in enumerate(zip(self.trees, levels, strict=True))
        ]
        group_of, members = group_tuples(np.stack(nodes, axis=1), [tree.size for tree in self.trees])
        return group_of, len(members)

    def count(self, rows: Rows, levels: Levels, scores: Floats) -> tuple[Ints, Counts, Floats]:
        """Number the groups of rows at some levels; return each row's, and each group's size and sum of scores.

        `scores` has a number of each code at each level, in the places of `keys`.
        """
        group_of = np.empty(len(rows.counts), dtype=np.int64)
        return self.kernel.count_groups(
            rows.codes, rows.counts, self.keys, scores, self.keys_of(levels[None])[0], group_of,
            self.slots, self.slot_keys, self.used,
        )  # fmt: skip

    def as_groups(
        self,
        rows: Rows,
        group_of: Ints,
        sizes: Counts,
        *,
        levels: Levels | None = None,
        regions: Callable[[], Regions] | None = None,
    ) -> Groups:
        """Return groups as models see them; histograms are counted when a model asks.

        `levels` are those that all groups show, or `regions` what each of them does; without either, models that ask
        what labels stand for are refused.
        """
        by_group: list[Ints] = []

        def count(codes: Codes) -> Histogram:
            if not by_group:
                by_group.extend(self._partition.sort_by_piece(np.arange(len(group_of)), group_of, len(sizes)))
            order, starts = by_group
            every, itself = np.arange(len(sizes)), np.arange(len(group_of))
            values = int(codes.max(initial=0)) + 1
            return Histogram(*self._partition.count_values(order, starts, every, itself, rows.counts, codes, values))

        def joint() -> Histogram:
            values = [self.tally.trees[name].size for name in self._sensitive]
            return count(group_tuples(rows.sensitive, values)[0].astype(np.int32))

        return Groups(
            sizes,
            LazyHistograms(
                self._sensitive,
                lambda name: count(np.ascontiguousarray(rows.sensitive[:, self._sensitive.index(name)])),
            ),
            self._whole,
            self.tally.trees,
            joint=joint,
            table=self.tally,
            regions=regions if levels is None else lambda: self._regions(rows, group_of, len(sizes), levels),
        )

    def _regions(self, rows: Rows, group_of: Ints, groups: int, levels: Levels) -> Regions:
        member = np.zeros(groups, dtype=np.int64)
        member[group_of] = np.arange(len(group_of))
        return Regions(self.columns, *self.runs(rows.codes.take(member, axis=0), levels))

    def distinct(self, codes: Codes, sensitive: Codes, counts: Counts) -> Rows:
        """Add up rows that are the same."""
        sizes = [tree.size for tree in self.trees] + [self.tally.trees[name].size for name in self._sensitive]
        index, first = group_tuples(np.concatenate([codes, sensitive], axis=1), sizes)
        totals = np.bincount(index, weights=counts, minlength=len(first)).astype(np.int64)
        return Rows(codes.take(first, axis=0), sensitive.take(first, axis=0), totals)

    def merge(self, rows: Rows, levels: Levels) -> Rows:
        """Add up rows that are the same at some levels and in their sensitive values; each is shown by one member."""
        every = np.concatenate([levels, np.zeros(rows.sensitive.shape[1], dtype=np.int8)])
        merged = self.kernel.merge_rows(
            rows.codes, rows.sensitive, rows.counts, self.keys, self.keys_of(every[None])[0],
            self.slots, self.slot_keys, self.used,
        )  # fmt: skip
        return Rows(*merged)

    def all_rows(self) -> Rows:
        """Return the tally's own tuples, in their order."""
        codes = self.tally.codes_of(self.columns)
        return Rows(codes, _stack([self.tally.column(name) for name in self._sensitive], len(codes)), self.tally.counts)

    def runs(self, codes: Codes, levels: Levels | NDArray[np.int64]) -> tuple[Codes, Codes]:
        """Return, column by column, the run of codes of each member's node; `levels` has a row each, or one for all."""
        wide = np.broadcast_to(levels, codes.shape)
        lows, highs = np.empty_like(codes), np.empty_like(codes)
        for place, tree in enumerate(self.trees):
            code = codes[:, place]
            lows[:, place] = tree.starts[wide[:, place], code]
            highs[:, place] = tree.ends[wide[:, place], code]
            if not self.tally.has_missing(self.columns[place]):  # its root holds the known values only
                lows[:, place] = np.where(code > 0, np.maximum(lows[:, place], 1), lows[:, place])
        return lows, highs


def _stack(columns: list[Codes], rows: int) -> Codes:
    return np.ascontiguousarray(np.stack(columns, axis=1)) if columns else np.empty((rows, 0), dtype=np.int32)


def _weigh(
    cells: list[CellLosses], tally: Tally, columns: tuple[str, ...], weights: Mapping[str, float]
) -> tuple[list[Floats], list[Floats]]:
    """Scale what cells lose so that a table of withheld rows loses 1; return it, and what shown cells keep of that."""
    means = [
        float((cell.withheld * tally.value_counts(name)).sum()) / max(tally.rows, 1)
        for name, cell in zip(columns, cells, strict=True)
    ]
    given = [weights.get(name, 1.0) for name in columns]
    total = sum(weight * mean for weight, mean in zip(given, means, strict=True)) or 1.0
    losses = [cell.shown * (weight / total) for weight, cell in zip(given, cells, strict=True)]
    withheld = [cell.withheld * (weight / total) for weight, cell in zip(given, cells, strict=True)]
    return losses, [most - lost for most, lost in zip(withheld, losses, strict=True)]

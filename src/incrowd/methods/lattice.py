"""The lattice of level vectors: what a vector loses, which groups it makes, and which of them are safe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import SchemaError, did_you_mean
from incrowd.groups import Groups, Histogram, LazyHistograms
from incrowd.hierarchies.tree import Codes
from incrowd.models.model import Model, any_looks_at_values
from incrowd.tally import Counts, Tally, group_tuples

Levels = NDArray[np.int8]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
    ) -> None:
        from incrowd.kernels import lattice, partition  # Numba takes long to import

        weights, bounds = weights or {}, bounds or LevelLimits()
        require_known([*weights, *bounds.lowest, *bounds.highest], columns)
        self.kernel, self._partition = lattice, partition
        self.tally, self.columns = tally, columns
        # Without a model that looks at values, rows need not be told apart by them.
        self._sensitive = sensitive if any_looks_at_values(require) else ()
        self._whole = {name: tally.value_counts(name) for name in self._sensitive}
        self.trees = [tally.trees[name] for name in columns]
        self.levels = [bounds.of(name, tree.height) for name, tree in zip(columns, self.trees, strict=True)]
        share = np.array([weights.get(name, 1.0) for name in columns])
        share = share / share.sum() if share.sum() else share
        self.losses = [_level_losses(tally, name) * part for name, part in zip(columns, share, strict=True)]
        self._lay_out_keys()
        self.rows = self.distinct(
            np.stack([tally.column(name) for name in columns], axis=1),
            _stack([tally.column(name) for name in self._sensitive], len(tally)),
            tally.counts,
        )
        size = 1 << int(np.ceil(np.log2(max(2 * len(tally), 2))))  # no table of rows is longer than the tally
        self.slots, self.slot_keys = np.full(size, -1, dtype=np.int64), np.empty(size, dtype=np.int64)
        self.used = np.empty(max(len(tally), 1), dtype=np.int64)

    def _lay_out_keys(self) -> None:
        """Give every node of every level a number, so that the sum over columns is a different one for each group."""
        keys, self.first_key, at, room = [], [], 0, 1
        for tree in self.trees:
            starts = []
            for nodes in tree.nodes:
                keys.append(nodes.astype(np.int64) * room)
                starts.append(at)
                at += len(nodes)
            self.first_key.append(np.array(starts, dtype=np.int64))
            room *= tree.size
        for name in self._sensitive:  # never generalized: one level, behind those of the quasi-identifiers
            size = self.tally.trees[name].size
            keys.append(np.arange(size, dtype=np.int64) * room)
            self.first_key.append(np.array([at], dtype=np.int64))
            at += size
            room *= size
        if room >= 2**62:
            raise SchemaError(
                f"{len(self.columns)} quasi-identifiers with so many values have more combinations than level vectors "
                "can be searched for.  Hint: use fewer quasi-identifiers, or Mondrian."
            )
        self.keys = np.concatenate(keys)

    def nodes(self) -> Levels:
        """Return all level vectors."""
        grids = np.meshgrid(*(np.array(levels, dtype=np.int8) for levels in self.levels), indexing="ij")
        return np.stack([grid.ravel() for grid in grids], axis=1)

    def mean_losses(self, nodes: Levels) -> Floats:
        """Return what each vector loses if nothing is withheld, as a mean over all rows."""
        total = np.zeros(len(nodes))
        for place, name in enumerate(self.columns):
            means = (self.losses[place] * self.tally.value_counts(name)).sum(axis=1) / self.tally.rows
            total += means[nodes[:, place]]
        return total

    def row_losses(self, rows: Rows, levels: Levels) -> Floats:
        """Return what each row loses at some levels."""
        total = np.zeros(len(rows.counts))
        for place, level in enumerate(levels):
            total += self.losses[place][level][rows.codes[:, place]]
        return total

    def keys_of(self, nodes: Levels) -> Ints:
        """Return where each vector's keys start, column by column."""
        columns = range(nodes.shape[1])
        return np.stack([self.first_key[place][nodes[:, place]] for place in columns], axis=1)

    def group(self, rows: Rows, levels: Levels) -> tuple[Ints, int]:
        """Number the groups of rows at some levels."""
        group_of = np.empty(len(rows.counts), dtype=np.int64)
        groups = self.kernel.group_rows(
            rows.codes, np.arange(len(rows.counts)), self.keys, self.keys_of(levels[None])[0], group_of,
            self.slots, self.slot_keys, self.used,
        )  # fmt: skip
        return group_of, groups

    def as_groups(self, rows: Rows, group_of: Ints, sizes: Counts) -> Groups:
        """Return groups as models see them; histograms are counted when a model asks."""
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
        )

    def distinct(self, codes: Codes, sensitive: Codes, counts: Counts) -> Rows:
        """Add up rows that are the same."""
        sizes = [tree.size for tree in self.trees] + [self.tally.trees[name].size for name in self._sensitive]
        index, first = group_tuples(np.concatenate([codes, sensitive], axis=1), sizes)
        totals = np.bincount(index, weights=counts, minlength=len(first)).astype(np.int64)
        return Rows(np.ascontiguousarray(codes[first]), np.ascontiguousarray(sensitive[first]), totals)

    def merge(self, rows: Rows, levels: Levels) -> Rows:
        """Add up rows that are the same at some levels and in their sensitive values; each is shown by one member."""
        codes = np.concatenate([rows.codes, rows.sensitive], axis=1)
        every = np.concatenate([levels, np.zeros(rows.sensitive.shape[1], dtype=np.int8)])
        group_of = np.empty(len(codes), dtype=np.int64)
        groups = self.kernel.group_rows(
            codes, np.arange(len(codes)), self.keys, self.keys_of(every[None])[0], group_of,
            self.slots, self.slot_keys, self.used,
        )  # fmt: skip
        member = np.empty(groups, dtype=np.int64)
        member[group_of[::-1]] = np.arange(len(codes) - 1, -1, -1)
        counts = np.bincount(group_of, weights=rows.counts, minlength=groups).astype(np.int64)
        return Rows(rows.codes[member], rows.sensitive[member], counts)

    def all_rows(self) -> Rows:
        """Return the tally's own tuples, in their order."""
        codes = np.ascontiguousarray(np.stack([self.tally.column(name) for name in self.columns], axis=1))
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


def _level_losses(tally: Tally, name: str) -> Floats:
    """Return the certainty penalty of every code at every level."""
    tree = tally.trees[name]
    lows = tree.starts.copy()
    if not tally.has_missing(name):
        lows[-1, 1:] = min(1, tree.size - 1)  # the root does not hold missing where nothing is
    return np.stack([tree.widths(low, high) for low, high in zip(lows, tree.ends, strict=True)])

"""A tally that is too large for the driver, made less specific until it fits: for methods that decide for all at once.

Such a method shows every value of a column alike, whoever has it, so that parts of the table cannot be searched one by
one. But whoever publishes has to generalize anyway. So Spark counts the table at levels that the method would hardly
go below, the driver searches that tally, and every tuple goes where its coarse one goes. Levels are raised, first those
of the columns which save most tuples for what they lose, until the tally fits. What is found is the method's best at or
above these levels.

Cost: two jobs over the tally for each round in which levels are raised or lowered; for each search, a join for every
quasi-identifier that is neither as it is nor at its root, which is broadcast where it has fewer than about a million
values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from pyspark.sql import functions as F

from incrowd.common.arrays import Codes, Ints, Words
from incrowd.common.progress import Progress, silent
from incrowd.common.records import dataclass
from incrowd.core.model import any_looks_at_values
from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.engines.dealing import group_of_tuple
from incrowd.engines.spark.arrow_batches import to_polars
from incrowd.engines.spark.coding import CodedTally
from incrowd.engines.spark.counting import COUNT, cached, too_large
from incrowd.engines.spark.distinct_estimates import KEPT, estimate_distinct
from incrowd.engines.spark.parts import PartSearch, shown_runs
from incrowd.engines.spark.placing import lookup_frame
from incrowd.errors import Unsatisfiable
from incrowd.hierarchies.tree import MISSING, Tree

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from incrowd.engines.spark.source import SparkSource

Vector = tuple[int, ...]
"""A level for each quasi-identifier."""

_ERROR = 1 / math.sqrt(KEPT)
"""Distinct tuples are estimated with about this error while levels are chosen; then they are counted."""
_ANY_SEED = 4096


@dataclass(frozen=True, eq=False)
class _Levels:
    """Tuples on Spark, and the codes that they have at every level."""

    source: SparkSource
    tally: CodedTally
    quasi: tuple[str, ...]
    others: tuple[str, ...]
    known: dict[Vector, float] = field(default_factory=dict)
    """How many distinct tuples there are at some levels, about."""

    @property
    def columns(self) -> list[str]:
        """The codes' columns, in the order of the quasi-identifiers and then the others."""
        return [self.tally.code(name) for name in (*self.quasi, *self.others)]

    def at(self, levels: Vector) -> DataFrame:
        """Return the tuples with their codes at some levels beside: `g0`, `g1`, … in the order of `columns`."""
        frame = self.tally.frame
        for place, (name, level) in enumerate(zip(self.quasi, levels, strict=True)):
            codes = np.arange(self.tally.trees[name].leaves, dtype=np.int32)
            shown, code = representatives(self.tally.trees[name], level), F.col(self.tally.code(name))
            # Values as they are, or one for all of them, need no join.
            if np.array_equal(shown, codes):
                frame = frame.withColumn(f"g{place}", code)
            elif (shown == shown[0]).all():
                frame = frame.withColumn(f"g{place}", F.lit(int(shown[0])))
            else:
                there = lookup_frame(self.source.session, pl.DataFrame({"code": codes, f"g{place}": shown}))
                frame = frame.join(there, on=code == F.col("code")).drop("code")
        return frame.withColumns(
            {f"g{len(self.quasi) + at}": F.col(self.tally.code(name)) for at, name in enumerate(self.others)}
        )

    @cached_property
    def _each_code(self) -> list[Words]:
        """A random number for each code of every column."""
        rng = np.random.default_rng(_ANY_SEED)
        sizes = [self.tally.trees[name].size for name in (*self.quasi, *self.others)]
        return [rng.integers(0, 2**64, size=size, dtype=np.uint64) for size in sizes]

    def _numbers(self, column: int, level: int) -> Words:
        """Return the random number of each code at a level: codes with one representative share it."""
        each = self._each_code[column]
        if column >= len(self.quasi):
            return each
        return np.asarray(each[representatives(self.tally.trees[self.quasi[column]], level)])

    @property
    def top(self) -> Vector:
        """The highest levels that there are."""
        return tuple(self.tally.trees[name].height for name in self.quasi)

    def distinct(self, vectors: Sequence[Vector]) -> list[float]:
        """Estimate how many distinct tuples there are at each of some vectors of levels, in one job."""
        asked = [vector for vector in vectors if vector not in self.known]
        if asked:
            choices = [(*vector, *(0 for _ in self.others)) for vector in asked]
            found = estimate_distinct(self.tally.frame, self.columns, self._numbers, choices)
            self.known.update(zip(asked, found, strict=True))
        return [self.known[vector] for vector in vectors]

    def lost(self, levels: Vector) -> float:
        """Return what showing all columns at some levels loses, by certainty penalty."""
        return sum(_lost(self.tally, name, level) for name, level in zip(self.quasi, levels, strict=True))

    def raised(self, levels: Vector, limit: float) -> Vector:
        """Raise levels, first those which save most tuples for what they lose, until about `limit` tuples are left."""
        tuples = self.distinct([levels])[0]
        while tuples > limit and (vectors := _neighbours(levels, self.top, 1)):
            saved = [math.log(tuples / max(min(number, tuples), 1.0)) for number in self.distinct(vectors)]
            lost = [max(self.lost(vector) - self.lost(levels), 1e-6) for vector in vectors]
            left, start = math.log(tuples / limit), levels
            for at in sorted(range(len(vectors)), key=lambda at: -saved[at] / lost[at]):
                if left <= 0:
                    break
                # Columns are taken to be independent, as long as none was raised twice: that saves jobs.
                levels, left = _together(levels, start, vectors[at]), left - saved[at]
            tuples = self.distinct([levels])[0]
        return levels

    def lowered(self, levels: Vector, least: Vector, limit: float) -> Vector:
        """Lower levels, first those which gain most for the tuples they bring, as long as `limit` is not passed."""
        limit *= 1 - 2 * _ERROR
        while vectors := _neighbours(levels, least, -1):
            start, here, more = levels, max(self.distinct([levels])[0], 1.0), self.distinct(vectors)
            brought = [math.log(max(number, here) / here) for number in more]
            gains = [self.lost(start) - self.lost(vector) for vector in vectors]
            order = sorted(
                (at for at, number in enumerate(more) if number <= limit),
                key=lambda at: -gains[at] / max(brought[at], 1e-6),
            )
            if not order:
                break
            room = math.log(limit / here)
            for at in order:
                if brought[at] <= room:
                    levels, room = _together(levels, start, vectors[at]), room - brought[at]
            if self.distinct([levels])[0] > limit:
                levels = vectors[order[0]]
        return levels


def _together(levels: Vector, start: Vector, other: Vector) -> Vector:
    """Return levels with the step that leads from the start to another vector."""
    return tuple(level + there - here for level, here, there in zip(levels, start, other, strict=True))


def shown_by_all(
    source: SparkSource, tally: CodedTally, search: PartSearch, limit: int, progress: Progress
) -> DataFrame:
    """Return the lines of a release whose method sees all of the table at once, as coarse as the driver can hold.

    The search goes on from the levels that were shown: where it went as low as it could, levels are lowered, as long as
    that finds something better. A method that chooses nodes, and not levels, begins a second time, from the top: what
    it finds depends more on where it begins.
    """
    schema, least = search.schema, search.method.least_levels
    looks = search.method.looks_at_values or any_looks_at_values(search.require)
    if not looks:
        search = replace(search, schema=replace(schema, sensitive={}), columns=tuple(sorted(schema.quasi)))
    held = _Levels(source, tally, tuple(schema.quasi), tuple(search.schema.sensitive))
    lowest = tuple(min(least.get(name, 0), top) for name, top in zip(held.quasi, held.top, strict=True))
    tried = set[Vector]()
    best = _best_from(held.raised(lowest, limit), search, held, lowest, limit, tried, progress)
    assert best is not None
    if best.chosen is None:
        other = _best_from(held.lowered(held.top, lowest, limit), search, held, lowest, limit, tried, progress)
        best = other if other is not None and other.loss < best.loss else best
    if best.chosen is not None and any(base > level for base, level in zip(best.levels, best.chosen, strict=True)):
        raise too_large(
            int(held.distinct([lowest])[0]), limit, why=f", at the levels that {search.method.name} is to show"
        )
    nothing = F.lit(None).cast("string")
    lines = _placed(held, best)
    return lines.withColumns({"first": F.lit(0).cast("bigint"), "whole": F.col(COUNT), "why": nothing})


def _best_from(
    levels: Vector,
    search: PartSearch,
    held: _Levels,
    lowest: Vector,
    limit: int,
    tried: set[Vector],
    progress: Progress,
) -> _Found | None:
    """Search at some levels, and at those that this leads to while they are better; None where they were tried."""
    best: _Found | None = None
    while levels not in tried:
        tried.add(levels)
        progress("searching", 0.0)
        try:
            found = _searched(search, held, levels, limit)
        except Unsatisfiable:
            if len(tried) == 1:
                raise
            break
        if best is not None and found.loss >= best.loss:
            break
        best = found
        levels = best.shown
        if best.chosen is None:  # first those that kept it from going on
            stopped = [level == base for level, base in zip(best.shown, best.levels, strict=True)]
            levels = held.lowered(
                levels, tuple(low if stop else at for low, at, stop in zip(lowest, levels, stopped, strict=True)), limit
            )
        levels = held.lowered(levels, lowest, limit)
    return best


def _neighbours(levels: Vector, end: Vector, step: int) -> list[Vector]:
    """Return the vectors in which one level is nearer to its end by one step."""
    found = []
    for place, level in enumerate(levels):
        if level != end[place]:
            found.append((*levels[:place], level + step, *levels[place + 1 :]))
    return found


def representatives(tree: Tree, level: int) -> Codes:
    """Return, for each code, one that stands for all values of its node at a level: the first that is known."""
    codes: Codes = np.maximum(tree.starts[level], np.int32(1)).astype(np.int32)
    if level < tree.height or tree.leaves == 1:  # below the root, the missing value is by itself
        codes[MISSING] = MISSING
    return codes


def _lost(tally: CodedTally, name: str, level: int) -> float:
    """Return what showing a column at a level loses, by certainty penalty."""
    tree, counts = tally.trees[name], tally.value_counts[name]
    lows, highs = _node_runs(tree, np.arange(tree.leaves, dtype=np.int32), level, missing=bool(counts[MISSING]))
    return float((tree.widths(lows, highs) * counts).sum() / max(int(counts.sum()), 1))


def _node_runs(tree: Tree, codes: Codes, level: int, *, missing: bool) -> tuple[Codes, Codes]:
    """Return the run of each code's node; the root holds the known values alone where none is missing."""
    lows, highs = tree.starts[level][codes], tree.ends[level][codes]
    if not missing:
        lows = np.where((lows == MISSING) & (highs > 1), np.int32(1), lows)
    return lows.astype(np.int32), highs.astype(np.int32)


@dataclass(frozen=True, eq=False)
class _Found:
    """What a search of a coarse tally decided: the codes of its published tuples at `levels`, and their groups."""

    levels: Vector
    codes: Codes
    recoding: Recoding
    loss: float
    chosen: Vector | None
    """The levels that the method chose for all groups, if it did."""
    shown: Vector
    """The lowest level that is shown of each column."""


def _searched(search: PartSearch, held: _Levels, levels: Vector, limit: int) -> _Found:
    """Search the tally at some levels, or at higher ones if it turns out to be too large.

    What groups show is widened to the nodes that their tuples stand for.
    """
    while True:
        keys = [f"g{place}" for place in range(len(held.columns))]
        counted = cached(held.at(levels).groupBy(*keys).agg(F.sum(COUNT).alias(COUNT)))
        number = counted.count()
        if number <= limit or levels == held.top:
            break
        counted.unpersist()
        held.known[levels] = number  # the estimate was too small
        levels = held.raised(levels, min(limit, limit * limit / number))
    found = to_polars(counted)
    counted.unpersist()
    names = [*held.quasi, *held.others]
    codes = np.stack([found[f"g{at}"].to_numpy() for at in range(len(names))], axis=1).astype(np.int32)
    coarse, index = search.tally(codes[:, [names.index(name) for name in search.columns]], found[COUNT].to_numpy())
    by_name = dict(zip(held.quasi, levels, strict=True))
    rng = np.random.default_rng([*search.secret, 0])
    method = search.method.not_below(by_name)
    recoding = method.search(coarse, search.schema, search.require, rng=rng, progress=silent)
    if recoding.form is not None:  # labels of its own, which are not those of coarse values
        raise too_large(int(number), limit, why=f"; {method.name} needs all of them")
    lows, highs = recoding.lows.copy(), recoding.highs.copy()
    for at, name in enumerate(recoding.columns):
        tree, missing = held.tally.trees[name], bool(held.tally.value_counts[name][MISSING])
        low, _ = _node_runs(tree, lows[:, at], by_name[name], missing=missing)
        _, high = _node_runs(tree, highs[:, at] - np.int32(1), by_name[name], missing=missing)
        if by_name[name] == tree.height and missing:
            low = np.zeros_like(low)
        lows[:, at], highs[:, at] = low, high
    groups = group_of_tuple(recoding, recoding.groups, len(coarse))
    assert groups is not None  # who shows all equal values alike takes no tuple apart
    of_given: Ints = groups[index]
    kept = of_given != WITHHELD
    counts = found[COUNT].to_numpy()
    placed = replace(
        recoding, tuples=np.arange(int(kept.sum())), counts=counts[kept], groups=of_given[kept], lows=lows, highs=highs
    )
    chosen = None
    if recoding.levels is not None:
        chosen = tuple(recoding.levels[recoding.columns.index(name)] for name in held.quasi)
    shown = chosen or tuple(
        _shown_level(held.tally, name, by_name[name], lows[:, place], highs[:, place])
        for name, place in ((name, recoding.columns.index(name)) for name in held.quasi)
    )
    return _Found(levels, codes[kept], placed, _loss(held, placed, int(counts.sum())), chosen, shown)


def _shown_level(tally: CodedTally, name: str, least: int, lows: Codes, highs: Codes) -> int:
    """Return the lowest level that some runs of a column are nodes of; the least where one is no node."""
    tree, missing = tally.trees[name], bool(tally.value_counts[name][MISSING])
    level_of = np.full(len(lows), least)
    for level in range(least, tree.height + 1):
        low, high = _node_runs(tree, np.maximum(lows, np.int32(not missing)), level, missing=missing)
        level_of[(low == lows) & (high == highs)] = level
    return int(level_of.min(initial=tree.height))


def _loss(held: _Levels, recoding: Recoding, rows: int) -> float:
    """Return the certainty penalty of all columns; a row that is withheld has lost all of them."""
    lost = float(len(held.quasi) * (rows - int(recoding.counts.sum())))
    for at, name in enumerate(recoding.columns):
        widths = held.tally.trees[name].widths(recoding.lows[:, at], recoding.highs[:, at])
        lost += float((widths[recoding.groups] * recoding.counts).sum())
    return lost


def _placed(held: _Levels, found: _Found) -> DataFrame:
    """Give each tuple what the group of its coarse one shows; those that are withheld are left out."""
    keys = {f"g{place}": found.codes[:, place] for place in range(len(held.columns))}
    groups = lookup_frame(held.source.session, pl.DataFrame({**keys, "group": found.recoding.groups}))
    runs = shown_runs(held.quasi, found.recoding).with_row_index("shown").cast({"shown": pl.Int64})
    joined = held.at(found.levels).join(groups, on=list(keys)).drop(*keys)
    shown = lookup_frame(held.source.session, runs)
    return joined.join(shown, on=F.col("group") == F.col("shown")).drop("group", "shown")

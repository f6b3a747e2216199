"""What groups show after people have moved, and what that loses: nodes, ranges between cuts, or tight ranges.

Groups are shown as the method showed them. Ranges between cuts end at cuts that the method made, so that no bound is
the value of a person who happens to be at the end of a group. Columns that show means lose nothing by their labels.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from incrowd.common.arrays import Codes, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.core.method import Moves
from incrowd.core.recoding import Recoding
from incrowd.core.tally import Tally
from incrowd.hierarchies.tree import MISSING, Tree
from incrowd.kernels.improving import LINE, MATRIX, NODES, SQUARED_LINE, Losses
from incrowd.methods.losses import COLUMN_LOSSES, CellLosses, level_loss
from incrowd.methods.value_or_anything import with_single_cells

_LARGEST_MATRIX = 512
"""A column of more values is looked up by its nodes."""

_LaidOut = tuple[int, Floats, Floats, Codes]
"""A kind, what is lost, how far the column has climbed, and nodes."""


@dataclass(frozen=True, eq=False)
class _Nodes:
    """A column that shows the lowest node, of the levels that it may have, that holds a group."""

    tree: Tree
    lost: Floats
    lowest: int
    highest: int

    def runs(self, lows: Codes, highs: Codes) -> tuple[Codes, Codes]:
        """Return the node of each group; the root's run holds missing only if the group does."""
        tree = self.tree
        common = np.argmax(tree.nodes[:, lows] == tree.nodes[:, highs], axis=0)
        level = np.maximum(common, self.lowest)
        starts = np.where(lows == MISSING, tree.starts[level, lows], np.maximum(tree.starts[level, highs], 1))
        return starts.astype(np.int32), tree.ends[level, highs]

    def lay_out(self) -> _LaidOut:
        """Return the kind, what is lost, how far the column has climbed, and nodes."""
        tree = self.tree
        shown = np.maximum(np.arange(tree.height + 1), self.lowest)
        lost = self.lost[shown].copy()
        lost[self.highest + 1 :] = np.inf
        climbs = np.broadcast_to((shown / max(tree.height, 1))[:, None], lost.shape)
        if tree.leaves > _LARGEST_MATRIX:
            return NODES, lost.ravel(), climbs.ravel(), tree.nodes.ravel()
        codes = np.arange(tree.leaves)
        level = np.argmax(tree.nodes[:, :, None] == tree.nodes[:, None, :], axis=0)
        return MATRIX, lost[level, codes].ravel(), climbs[level, codes].ravel(), np.empty(0, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class _Line:
    """A column that shows the range or set between the cuts around a group: `floor` and `ceiling` of each code."""

    tree: Tree
    weight: float
    floor: Codes
    ceiling: Codes
    highest: int

    def runs(self, lows: Codes, highs: Codes) -> tuple[Codes, Codes]:
        """Return the codes between the cuts around each group."""
        ends = self.ceiling[highs]
        mixed = (lows == MISSING) & (highs > MISSING)  # written as anything
        return self.floor[lows], np.where(mixed, self.tree.size, ends).astype(np.int32)

    def lay_out(self) -> _LaidOut:
        """Return the kind, where runs begin and end, and nothing else."""
        tree = self.tree
        if tree.ordered:
            place = np.nan_to_num(tree.positions) / (tree.span or 1.0)
        else:
            place = np.arange(tree.size) / max(tree.size - 2, 1)
        begins, ends = self.weight * place[self.floor], self.weight * place[self.ceiling - 1]
        begins[MISSING], ends[MISSING] = 0.0, self.weight  # alone, and mixed with values
        if self.highest < tree.height:  # published as it is
            return _never_together(tree.size)
        return LINE, np.concatenate([begins, ends]), np.zeros(2 * tree.size), np.empty(0, dtype=np.int32)


class ShownAs:
    """How the groups of a recoding are shown, whoever is in them."""

    def __init__(self, tally: Tally, recoding: Recoding, moves: Moves, means: Collection[str] = ()) -> None:
        if moves.loss == "cells":
            tally = with_single_cells(tally, recoding.columns)
        self._means = [name in means for name in recoding.columns]
        self._squared = moves.loss == "squared-error"
        self._columns = [_column(tally, recoding, place, moves) for place in range(len(recoding.columns))]
        self.withheld = sum(_withheld(tally, name, moves) for name in recoding.columns)
        self.max_climb = moves.max_distortion * len(recoding.columns) if moves.max_distortion < 1 else np.inf

    def losses(self, kinds: int = 0) -> Losses:
        """Return what compiled code looks up; a last column of so many `kinds`, if there are any, keeps these apart."""
        laid_out = [column.lay_out() for column in self._columns]
        if self._squared:
            laid_out = [_squared(*one, mean=mean) for one, mean in zip(laid_out, self._means, strict=True)]
        return self._laid_out(laid_out, kinds)

    def distances(self, kinds: int = 0) -> Losses:
        """Return by what those near by are found: as `losses`, not squared, and of all columns."""
        return self._laid_out([column.lay_out() for column in self._columns], kinds)

    def _laid_out(self, columns: list[_LaidOut], apart: int) -> Losses:
        sizes = [column.tree.leaves for column in self._columns]
        if apart:
            columns, sizes = [*columns, _never_together(apart)], [*sizes, apart]
        kinds, tables, climbs, nodes = zip(*columns, strict=True)
        return Losses(
            np.array(kinds, dtype=np.int64),
            np.array(sizes, dtype=np.int64),
            _firsts(tables),
            _firsts(nodes),
            np.concatenate(tables).astype(np.float64),
            np.concatenate(climbs).astype(np.float64),
            np.concatenate(nodes).astype(np.int32),
        )

    def runs(self, lows: Codes, highs: Codes) -> tuple[Codes, Codes]:
        """Return the runs that groups show whose codes go from `lows` to `highs`, the latter included."""
        starts, ends = np.empty_like(lows), np.empty_like(highs)
        for place, column in enumerate(self._columns):
            starts[:, place], ends[:, place] = column.runs(lows[:, place], highs[:, place])
        return starts, ends

    def recode(self, recoding: Recoding, codes: Codes, groups: Ints) -> Recoding:
        """Return the recoding in which each part is in another group."""
        published = groups >= 0
        numbers, groups_now = np.unique(groups[published], return_inverse=True)
        groups = groups.copy()
        groups[published] = groups_now
        lows, highs = spans(codes[published], groups_now, len(numbers))
        starts, ends = self.runs(lows, highs)
        return replace(recoding, groups=groups, lows=starts, highs=ends)


def spans(codes: Codes, group_of: Ints, number: int) -> tuple[Codes, Codes]:
    """Return the lowest and the highest code of each group; none may be empty."""
    order = np.argsort(group_of, kind="stable")
    starts = np.searchsorted(group_of[order], np.arange(number))
    if not number:
        return codes[:0], codes[:0]
    return np.minimum.reduceat(codes[order], starts), np.maximum.reduceat(codes[order], starts)


def _column(tally: Tally, recoding: Recoding, place: int, moves: Moves) -> _Nodes | _Line:
    name = recoding.columns[place]
    tree, weight = tally.trees[name], moves.weights.get(name, 1.0)
    lowest, highest = moves.min_levels.get(name, 0), moves.max_levels.get(name, tree.height)
    if recoding.shown == "hierarchy":
        return _Nodes(tree, _cell_losses(tally, name, moves).shown * weight, lowest, highest)
    every = np.arange(tree.size, dtype=np.int32)
    if recoding.shown == "tight":
        return _Line(tree, weight, every, every + np.int32(1), highest)
    ends = np.array([MISSING, min(MISSING + 1, tree.size), tree.size])
    cuts = np.unique(np.concatenate([recoding.lows[:, place], recoding.highs[:, place], ends])).astype(np.int32)
    above = np.searchsorted(cuts, every, side="right")
    return _Line(tree, weight, cuts[above - 1], cuts[above], highest)


def _withheld(tally: Tally, name: str, moves: Moves) -> float:
    """Return what a withheld cell loses."""
    lost = _cell_losses(tally, name, moves).withheld
    return float(lost.max(initial=0.0)) * moves.weights.get(name, 1.0)


def _cell_losses(tally: Tally, name: str, moves: Moves) -> CellLosses:
    if moves.loss == "cells":
        return level_loss(tally, name)
    return COLUMN_LOSSES["gcp" if moves.loss == "squared-error" else moves.loss](tally, name)


def _never_together(size: int) -> _LaidOut:
    """Return a column of which no group shows two values."""
    apart = np.concatenate([np.zeros(size), np.full(size, np.inf)])
    nodes = np.concatenate([np.arange(size), np.zeros(size)]).astype(np.int32)
    return NODES, apart, np.zeros(2 * size), nodes


def _squared(kind: int, table: Floats, climbs: Floats, nodes: Codes, *, mean: bool) -> _LaidOut:
    """Return what a column loses in squares; nothing where it shows a mean, whose error is not the label's."""
    if mean:
        return kind, np.zeros_like(table), climbs, nodes
    return (SQUARED_LINE, table, climbs, nodes) if kind == LINE else (kind, table**2, climbs, nodes)


def _firsts(arrays: tuple[Floats, ...] | tuple[Codes, ...]) -> Ints:
    lengths = np.array([len(array) for array in arrays], dtype=np.int64)
    return np.cumsum(lengths) - lengths

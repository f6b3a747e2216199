"""A line of numbers or dates as far as labels may name it: only the values that published people have.

A column's tree holds the values of everybody in the table. A range whose bound was chosen between them could name
values of people who are not published: withheld, or left out by a sample. So ranges are written by a tree without these
values, and its codes are taken back to the table's own afterwards.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from incrowd.common.arrays import Bools, Codes, pick
from incrowd.common.records import dataclass
from incrowd.hierarchies.cuts import cuts_below
from incrowd.hierarchies.tree import MISSING, Tree
from incrowd.hierarchies.values import as_bounds


@dataclass(frozen=True, eq=False)
class Narrowed:
    """A tree of some of a column's values, whose code i is code `whole[i]` of the column's own tree.

    Only its values, its cuts and its size are meant to be used. `begins[i]` is the first code, in the column's own
    tree, of what lies above the cut below code i; the last entry is one past everything.
    """

    tree: Tree
    whole: Codes
    begins: Codes
    _before: Codes
    """How many of the values that may be named come before each code of the column's own tree."""

    def runs(self, lows: Codes, highs: Codes) -> tuple[Codes, Codes]:
        """Return the run of each run's values that may be named; where there is none, of a neighbour's, for nobody."""
        low = np.minimum(self._before[lows], self.tree.size - 1)
        return low, np.maximum(self._before[highs], low + 1)


def narrow(tree: Tree, present: Bools) -> Narrowed | None:
    """Return the tree of the values that are present; None where labels may name all of them."""
    if present[1:].all():
        return None
    keep = present.copy()
    keep[MISSING] = True
    whole = np.flatnonzero(keep).astype(np.int32)
    nodes = tree.nodes[:, whole].copy()
    nodes[0] = np.arange(len(whole))
    known = pick(tree.values, whole)
    edges, begins = _cuts(tree, whole, known)
    narrowed = replace(
        tree,
        values=known,
        nodes=nodes,
        names=(pick(tree.names[0], whole), *tree.names[1:]),
        positions=tree.positions[whole],
        declared_edges=edges,
    )
    before = np.concatenate(([0], np.cumsum(keep))).astype(np.int32)
    return Narrowed(narrowed, whole, np.append(begins, tree.size).astype(np.int32), before)


def _cuts(tree: Tree, whole: Codes, known: pl.Series) -> tuple[pl.Series, Codes]:
    """Return how the cut below each value is written, and the code of the whole tree that it falls on.

    A bound of the hierarchy's own that lies between two neighbours comes first, then the roundest number.
    """
    left, right = np.concatenate(([-1], whole[:-1])).astype(np.int32), whole
    cuts = cuts_below(known)
    edges, begins = as_bounds(cuts), _codes_from(tree, cuts, left, right)
    if tree.declared_edges is None or tree.height < 2:
        return edges, begins
    differs = tree.nodes[1:-1, left] != tree.nodes[1:-1, right]  # from the lowest intervals to the widest
    differs[:, :2] = False  # below the first value there is no cut
    between = np.flatnonzero(differs.any(axis=0))
    if not between.size:
        return edges, begins
    level = differs.shape[0] - np.argmax(differs[::-1, between], axis=0)
    bounds = pick(tree.declared_edges, tree.starts[level, right[between]])
    begins[between] = _codes_from(tree, bounds.cast(pl.Float64, strict=False), left[between], right[between])
    return edges.scatter(between, bounds), begins


def _codes_from(tree: Tree, cuts: pl.Series, left: Codes, right: Codes) -> Codes:
    """Return the first code whose value is not below each cut, which lies between two neighbouring values."""
    values = tree.values.slice(1)
    exact = values.dtype.is_temporal() or (values.dtype.is_integer() and cuts.dtype.is_integer())
    line = pl.Float64 if not exact else values.dtype
    found = np.asarray(values.cast(line).search_sorted(cuts.cast(line), side="left")).astype(np.int64) + 1
    # Whatever rounding does: of two neighbours that are kept, the cut has one on either side.
    found = np.clip(found, left + 1, right)
    return np.where(cuts.is_null().to_numpy(), left + 1, found).astype(np.int32)

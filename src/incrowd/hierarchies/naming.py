"""The published label of a run of codes: a range, a node's name, or a set of names.

Labels are made once per distinct run of a column, and all of them at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from incrowd.common.arrays import Bools, Codes, Ints
from incrowd.hierarchies import labels
from incrowd.hierarchies.narrowing import Narrowed, narrow
from incrowd.hierarchies.tree import LONGEST_SET, MISSING, Tree

Shown = Literal["region", "hierarchy", "level", "tight"]


@dataclass(frozen=True, eq=False)
class Pieces:
    """What the labels of a column stand for where that is not all of a run, since values between are left out.

    Label i stands for the runs `offsets[i]:offsets[i + 1]` of codes from `lows` to `highs`, the latter not included.
    """

    offsets: Ints
    lows: Codes
    highs: Codes

    @property
    def torn(self) -> Bools:
        """Whether each label leaves out anything between the first and the last code that it stands for."""
        first, last = self.offsets[:-1], self.offsets[1:] - 1
        before = np.concatenate(([0], np.cumsum(self.highs - self.lows)))
        return np.asarray(before[last + 1] - before[first] < self.highs[last] - self.lows[first])


@dataclass(frozen=True, eq=False)
class Named:
    """The labels of some runs, and the run of codes from the first to the last that each label stands for.

    Where labels leave out what lies between, `pieces[piece_of[i]]` is what label i stands for.
    """

    labels: pl.Series
    lows: Codes
    highs: Codes
    piece_of: Ints | None = None
    pieces: Pieces | None = None


def name_runs(
    tree: Tree,
    lows: Codes,
    highs: Codes,
    *,
    shown: Shown = "region",
    level: int | None = None,
    present: Bools | None = None,
    gaps: bool = True,
) -> Named:
    """Write every run of codes as a label that names no value but those that are `present` (by default, all may be).

    A run that holds other values leaves them out of a set of names. Without `gaps`, such a set becomes the lowest node
    that covers it: it says less, and stands for all that the run does.
    """
    narrowed = None if present is None else narrow(tree, present)
    if shown != "tight":
        lows, highs = widen_to_showable(tree, lows, highs, narrowed)
    if narrowed is None:
        return Named(label_runs(tree, lows, highs, shown=shown, level=level), lows, highs)
    low, high = narrowed.runs(lows, highs)
    if tree.ordered and shown not in ("hierarchy", "level"):
        return _named_ranges(narrowed, lows, low, high, shown)
    named = _named_nodes(tree, narrowed, low, high, shown, level)
    return named if gaps or named.pieces is None else _widened(tree, named)


def _widened(tree: Tree, named: Named) -> Named:
    """Write labels that leave values out as the lowest nodes that hold all between."""
    assert named.pieces is not None
    assert named.piece_of is not None
    torn = named.pieces.torn[named.piece_of]
    lows, highs = named.lows.copy(), named.highs.copy()
    lows[torn], highs[torn] = tree.common_nodes(lows[torn], highs[torn])
    covering = label_runs(tree, lows[torn], highs[torn], shown="hierarchy")
    return Named(named.labels.scatter(np.flatnonzero(torn), covering), lows, highs)


def _named_nodes(tree: Tree, narrowed: Narrowed, lows: Codes, highs: Codes, shown: Shown, level: int | None) -> Named:
    """Write sets of names, and find the codes of the whole tree that each name stands for."""
    low, high, index = _distinct_runs(narrowed.tree, lows, highs)
    found = _find_nodes(narrowed.tree, low, high, highest=shown == "level", level=level)
    code = narrowed.whole[found.codes]
    starts = np.where(found.levels == 0, code, tree.starts[found.levels, code])
    ends = np.where(found.levels == 0, code + 1, tree.ends[found.levels, code])
    begins, stops = np.full(len(low), MISSING, dtype=np.int32), np.full(len(low), MISSING + 1, dtype=np.int32)
    begins[found.root], stops[found.root] = np.where(low[found.root] == MISSING, MISSING, 1), tree.size
    filled, first = np.unique(found.runs, return_index=True)
    begins[filled] = starts[first]
    stops[filled] = ends[np.append(first[1:], len(ends)) - 1] if len(filled) else MISSING + 1
    labels_found = _write_labels(narrowed.tree, len(low), found).gather(index)
    lengths = np.bincount(found.runs, weights=ends - starts, minlength=len(low))
    named = np.isin(np.arange(len(low)), filled)
    if not (named & (lengths < stops - begins)).any():
        return Named(labels_found, begins[index], stops[index])
    # What is not written as names is one piece: missing, or anything, missing included.
    others = np.flatnonzero(~named)
    run = np.concatenate([found.runs, others])
    order = np.argsort(run, kind="stable")
    pieces = Pieces(
        np.searchsorted(run[order], np.arange(len(low) + 1)),
        np.concatenate([starts, np.full(len(others), MISSING)])[order].astype(np.int32),
        np.concatenate([ends, stops[others]])[order].astype(np.int32),
    )
    return Named(labels_found, begins[index], stops[index], index.astype(np.int64), pieces)


def _named_ranges(narrowed: Narrowed, lows: Codes, low: Codes, high: Codes, shown: Shown) -> Named:
    """Write ranges, and find the codes of the whole tree between the bounds that are written."""
    found = label_runs(narrowed.tree, low, high, shown=shown)
    first, last = narrowed.whole[low], narrowed.whole[high - 1] + 1
    exact = (high - low == 1) | (shown == "tight")
    begins = np.where(exact, first, narrowed.begins[low])
    ends = np.where(exact, last, narrowed.begins[high])
    anything = lows == MISSING
    return Named(
        found,
        np.where(anything & ~exact, MISSING, begins).astype(np.int32),
        np.where(anything & ~exact, narrowed.begins[-1], ends).astype(np.int32),
    )


def label_runs(
    tree: Tree,
    lows: Codes,
    highs: Codes,
    *,
    shown: Shown = "region",
    level: int | None = None,
) -> pl.Series:
    """Return the label of every run `[low, high)` of codes; null for missing on its own.

    By region, numbers and dates are shown as ranges between cuts, open at the ends of the column, so that no bound is
    anybody's extreme value; by hierarchy, as the lowest nodes that hold just these values, and by level as the highest;
    tight, as the closed range from the smallest value to the largest.
    """
    low, high, index = _distinct_runs(tree, lows, highs)
    if tree.ordered and shown not in ("hierarchy", "level"):
        return _range_labels(tree, low, high, tight=shown == "tight").gather(index)
    found = _find_nodes(tree, low, high, highest=shown == "level", level=level)
    return _write_labels(tree, len(low), found).gather(index)


def _distinct_runs(tree: Tree, lows: Codes, highs: Codes) -> tuple[Codes, Codes, Ints]:
    """Return the distinct runs, and which of them each run is."""
    keys = lows.astype(np.int64) * (tree.size + 1) + highs
    distinct, index = np.unique(keys, return_inverse=True)
    low, high = (distinct // (tree.size + 1)).astype(np.int32), (distinct % (tree.size + 1)).astype(np.int32)
    return low, high, index


def _range_labels(tree: Tree, lows: Codes, highs: Codes, *, tight: bool) -> pl.Series:
    values, edges = tree.names[0], tree.edges
    frame = pl.DataFrame(
        {
            "low": lows,
            "high": highs,
            "first": values.gather(lows),
            "last": values.gather(highs - 1),
            "from": edges.gather(lows),
            "to": edges.gather(np.minimum(highs, tree.size - 1)),
        }
    )
    at_start, at_end = pl.col("low") == 1, pl.col("high") == tree.size
    region = (
        pl.when(at_start & at_end)
        .then(pl.lit(labels.ANY))
        .when(at_start)
        .then(pl.format("<{}", "to"))
        .when(at_end)
        .then(pl.format(">={}", "from"))
        .otherwise(pl.format("[{}, {})", "from", "to"))
    )
    label = (
        pl.when(pl.col("high") - pl.col("low") == 1)
        .then("first")  # null for missing
        .when(pl.col("low") == MISSING)
        .then(pl.lit(labels.ANY))
        .otherwise(pl.format("[{}, {}]", "first", "last") if tight else region)
    )
    return frame.select(label.alias("label")).to_series()


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Runs that are the root, and the nodes of the others, run after run: the run, its level and its first code."""

    root: Bools
    runs: Ints
    levels: Ints
    codes: Codes


def _find_nodes(tree: Tree, lows: Codes, highs: Codes, *, highest: bool, level: int | None) -> _Nodes:
    alone = (lows == MISSING) & (highs == MISSING + 1)
    root = ~alone & ((lows == MISSING) | ((lows == 1) & (highs == tree.size) & (highs - lows > 1)))
    if level is not None:  # what a level shows must not depend on the other values of the column
        root = np.full(len(lows), level == tree.height)
        alone &= ~root
    named = np.flatnonzero(~alone & ~root)
    run, levels, code = tree.cover(lows[named], highs[named])
    if level is not None:  # each run is one node of this level, whatever other nodes hold the same
        run, levels, code = np.arange(len(named)), np.full(len(named), level), lows[named]
    elif not highest:  # a value that is alone in its node is shown as itself
        levels = tree.lowest_levels(levels, code)
    return _Nodes(root, named[run], levels, code)


def _write_labels(tree: Tree, number: int, found: _Nodes) -> pl.Series:
    """Write each run as the root, as a name or as a set of names; null where it has none, which is missing."""
    written = pl.Series([None], dtype=pl.String).new_from_index(0, number)
    nodes = pl.DataFrame({"run": found.runs, "level": found.levels, "node": tree.nodes[found.levels, found.codes]})
    names = _write_nodes(tree, nodes.select("level", "node").unique())
    sets = (
        nodes.join(names, on=["level", "node"], how="left", maintain_order="left")
        .group_by("run", maintain_order=True)
        .agg("name", "member")
        .select(
            "run",
            label=pl.when(pl.col("name").list.len() == 1)
            .then(pl.col("name").list.first())
            .otherwise("{" + pl.col("member").list.join(", ") + "}"),
        )
    )
    written = written.scatter(np.flatnonzero(found.root), labels.ANY)
    return written.scatter(sets["run"], sets["label"])


def _write_nodes(tree: Tree, nodes: pl.DataFrame) -> pl.DataFrame:
    """Write each node's name as it stands alone and as a member of a set."""
    names = [tree.names[level][node] for level, node in nodes.iter_rows()]
    # Names of intervals are ranges already, and need quotes only where a comma would separate them.
    alone = names if tree.ordered else [labels.write_name(name) for name in names]
    return nodes.with_columns(
        name=pl.Series(alone, dtype=pl.String),
        member=pl.Series([labels.write_member(name) for name in names], dtype=pl.String),
    )


def widen_to_showable(tree: Tree, lows: Codes, highs: Codes, narrowed: Narrowed | None = None) -> tuple[Codes, Codes]:
    """Widen runs that only an overlong set could name to the lowest node that covers them."""
    long = np.flatnonzero((highs - lows > LONGEST_SET) & (lows != MISSING))
    if tree.ordered or not long.size:
        return lows, highs
    lows, highs = lows.copy(), highs.copy()
    runs, index = np.unique(np.stack([lows[long], highs[long]], axis=1), axis=0, return_inverse=True)
    naming, starts, ends = tree, runs[:, 0], runs[:, 1]
    if narrowed is not None:
        naming, (starts, ends) = narrowed.tree, narrowed.runs(starts, ends)
    members = np.bincount(naming.cover(starts, ends)[0], minlength=len(runs))
    wide = long[(members > LONGEST_SET)[index]]
    lows[wide], highs[wide] = tree.common_nodes(lows[wide], highs[wide])
    return lows, highs

"""The published label of a run of codes: a range, a node's name, or a set of names.

Labels are made once per distinct run of a column, and all of them at once.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import numpy as np
import polars as pl

from incrowd.common.arrays import Bools, Codes, Ints, pick
from incrowd.common.records import dataclass
from incrowd.hierarchies import labels
from incrowd.hierarchies.calendar import short_bounds
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


@dataclass(frozen=True, eq=False)
class Named:
    """The labels of some runs, and the run of codes from the first to the last that each label stands for.

    Where labels leave out what lies between, `pieces[piece_of[i]]` is what label i stands for. `less` says whether any
    label stands for less than its run.
    """

    labels: pl.Series
    lows: Codes
    highs: Codes
    piece_of: Ints | None = None
    pieces: Pieces | None = None
    less: bool = False


def name_runs(
    tree: Tree,
    lows: Codes,
    highs: Codes,
    *,
    shown: Shown = "region",
    level: int | None = None,
    present: Bools | None = None,
    wider: bool = False,
) -> Named:
    """Write every run of codes as a label that names no value but those that are `present` (by default, all may be).

    Of a set, other names are left out, and ranges end between values that are present. Such a label may stand for less
    than its run; a `wider` one stands for all of it: the node that holds the run, or the range to the next cuts.
    """
    ranges = tree.ordered and shown not in ("hierarchy", "level")
    if present is None or tree.declared or present[1:].all():
        if shown != "tight":
            lows, highs = widen_to_showable(tree, lows, highs)
        return Named(label_runs(tree, lows, highs, shown=shown, level=level), lows, highs)
    if ranges:
        narrowed = narrow(tree, present)
        assert narrowed is not None
        return _named_ranges(narrowed, lows, highs, wider=wider, tight=shown == "tight")
    found = _named_nodes(tree, lows, highs, shown, level, present)
    long = np.zeros(len(lows), dtype=bool) if shown == "tight" else found.members > LONGEST_SET
    widened = long | (found.less & wider)
    if not widened.any():
        return found.named
    lows, highs = lows.copy(), highs.copy()
    lows[widened], highs[widened] = tree.common_nodes(lows[widened], highs[widened])
    # Of a node by its name, nothing is left out.
    return _named_nodes(tree, lows, highs, shown, level, present).named


@dataclass(frozen=True, eq=False)
class _NamedNodes:
    """Labels, how many names each has, and whether names were left out of it."""

    named: Named
    members: Ints
    less: Bools


def _named_nodes(tree: Tree, lows: Codes, highs: Codes, shown: Shown, level: int | None, present: Bools) -> _NamedNodes:
    """Write sets of names without those of nodes in which nobody is present."""
    low, high, index = _distinct_runs(tree, lows, highs)
    every = _find_nodes(tree, low, high, highest=shown == "level", level=level)
    before = np.concatenate(([0], np.cumsum(present)))
    starts, ends = tree.starts[every.levels, every.codes], tree.ends[every.levels, every.codes]
    told = before[ends] > before[starts]
    found = _Nodes(every.root, every.runs[told], every.levels[told], every.codes[told])
    starts, ends = starts[told], ends[told]
    begins = np.where(found.root & (low > MISSING), 1, MISSING).astype(np.int32)
    stops = np.where(found.root, tree.size, MISSING + 1).astype(np.int32)
    filled, first = np.unique(found.runs, return_index=True)
    begins[filled] = starts[first]
    stops[filled] = ends[np.append(first[1:], len(ends)) - 1] if len(filled) else 0
    written = pick(_write_labels(tree, len(low), found), index)
    members = np.bincount(found.runs, minlength=len(low))
    less = (members < np.bincount(every.runs, minlength=len(low)))[index]
    lengths = np.bincount(found.runs, weights=ends - starts, minlength=len(low))
    named = members > 0
    if not (named & (lengths < stops - begins)).any():
        plain = Named(written, begins[index], stops[index], less=bool(less.any()))
        return _NamedNodes(plain, members[index], less)
    # What is not written as names is one piece: missing, or anything, missing included.
    others = np.flatnonzero(~named)
    run = np.concatenate([found.runs, others])
    order = np.argsort(run, kind="stable")
    pieces = Pieces(
        np.searchsorted(run[order], np.arange(len(low) + 1)),
        np.concatenate([starts, np.full(len(others), MISSING)])[order].astype(np.int32),
        np.concatenate([ends, stops[others]])[order].astype(np.int32),
    )
    torn = Named(written, begins[index], stops[index], index.astype(np.int64), pieces, less=True)
    return _NamedNodes(torn, members[index], less)


def _named_ranges(narrowed: Narrowed, lows: Codes, highs: Codes, *, wider: bool, tight: bool) -> Named:
    """Write ranges, and find the codes of the column's own tree between the bounds that are written."""
    tree = narrowed.tree
    low, high = narrowed.runs(lows, highs)
    if wider and not tight:
        low = np.where((low > 1) & (narrowed.begins[low] > lows), low - 1, low)
        high = np.where((high < tree.size) & (narrowed.begins[high] < highs), high + 1, high)
    # A value is shown as it is where its run holds no other, and not where the others are nobody's who is published.
    exact = highs - lows == 1
    keys = (low.astype(np.int64) * (tree.size + 1) + high) * 2 + exact
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    written = pick(_range_labels(tree, low[first], high[first], tight=tight, exact=exact[first]), index)
    closed = exact | tight
    begins = np.where(closed, narrowed.whole[low], narrowed.begins[low])
    ends = np.where(closed, narrowed.whole[high - 1] + 1, narrowed.begins[high])
    anything = (lows == MISSING) & ~exact
    begins = np.where(anything, MISSING, begins).astype(np.int32)
    ends = np.where(anything, narrowed.begins[-1], ends).astype(np.int32)
    return Named(written, begins, ends, less=bool(((begins > lows) | (ends < highs)).any()))


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
        return pick(_range_labels(tree, low, high, tight=shown == "tight", exact=high - low == 1), index)
    found = _find_nodes(tree, low, high, highest=shown == "level", level=level)
    return pick(_write_labels(tree, len(low), found), index)


def _distinct_runs(tree: Tree, lows: Codes, highs: Codes) -> tuple[Codes, Codes, Ints]:
    """Return the distinct runs, and which of them each run is."""
    keys = lows.astype(np.int64) * (tree.size + 1) + highs
    distinct, index = np.unique(keys, return_inverse=True)
    low, high = (distinct // (tree.size + 1)).astype(np.int32), (distinct % (tree.size + 1)).astype(np.int32)
    return low, high, index


def _range_labels(tree: Tree, lows: Codes, highs: Codes, *, tight: bool, exact: Bools) -> pl.Series:
    values, edges = tree.names[0], tree.edges
    frame = pl.DataFrame(
        {
            "low": lows,
            "high": highs,
            "first": pick(values, lows),
            "last": pick(values, highs - 1),
            "from": pick(edges, lows),
            "to": pick(edges, np.minimum(highs, tree.size - 1)),
            "exact": exact,
        }
    )
    at_start, at_end = pl.col("low") == 1, pl.col("high") == tree.size
    if tree.values.dtype.is_temporal():
        bounds = pl.when(~at_start).then("from"), pl.when(~at_end).then("to")
        frame = frame.with_columns(*short_bounds(*bounds))
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
        pl.when("exact")
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
    keys = found.levels * np.int64(tree.size) + tree.nodes[found.levels, found.codes]
    nodes, node_of = np.unique(keys, return_inverse=True)
    names = [tree.names[key // tree.size][key % tree.size] for key in nodes.tolist()]
    # Names of intervals are ranges already, and need quotes only where a comma would separate them.
    alone = names if tree.ordered else [labels.write_name(name) for name in names]
    single = np.bincount(found.runs, minlength=number)[found.runs] == 1
    label_of = np.where(found.root, 1, 0)
    label_of[found.runs[single]] = node_of[single] + 2
    runs, nodes_of_sets = found.runs[~single], node_of[~single].tolist()
    begins = np.flatnonzero(np.diff(runs, prepend=-1))
    parts = [labels.write_member(name) for name in names] if nodes_of_sets else []
    members = list(map(parts.__getitem__, nodes_of_sets))
    bounds = pairwise([*begins.tolist(), len(members)])
    sets = ["{" + ", ".join(members[first:last]) + "}" for first, last in bounds]
    label_of[runs[begins]] = np.arange(len(sets)) + len(alone) + 2
    return pick(pl.Series([None, labels.ANY, *alone, *sets], dtype=pl.String), label_of)


def widen_to_showable(tree: Tree, lows: Codes, highs: Codes) -> tuple[Codes, Codes]:
    """Widen runs that only an overlong set could name to the lowest node that covers them."""
    long = np.flatnonzero((highs - lows > LONGEST_SET) & (lows != MISSING))
    if tree.ordered or not long.size:
        return lows, highs
    lows, highs = lows.copy(), highs.copy()
    runs, index = np.unique(np.stack([lows[long], highs[long]], axis=1), axis=0, return_inverse=True)
    members = np.bincount(tree.cover(runs[:, 0], runs[:, 1])[0], minlength=len(runs))
    wide = long[(members > LONGEST_SET)[index]]
    lows[wide], highs[wide] = tree.common_nodes(lows[wide], highs[wide])
    return lows, highs

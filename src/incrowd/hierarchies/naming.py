"""The published label of a run of codes: a range, a node's name, or a set of names.

Labels are made once per distinct run of a column, and all of them at once.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes
from incrowd.hierarchies import labels
from incrowd.hierarchies.tree import LONGEST_SET, MISSING, Tree


def label_runs(
    tree: Tree,
    lows: Codes,
    highs: Codes,
    *,
    shown: Literal["region", "hierarchy", "level", "tight"] = "region",
    level: int | None = None,
) -> pl.Series:
    """Return the label of every run `[low, high)` of codes; null for missing on its own.

    By region, numbers and dates are shown as ranges between cuts, open at the ends of the column, so that no bound is
    anybody's extreme value; by hierarchy, as the lowest nodes that hold just these values, and by level as the highest;
    tight, as the closed range from the smallest value to the largest.
    """
    keys = lows.astype(np.int64) * (tree.size + 1) + highs
    distinct, index = np.unique(keys, return_inverse=True)
    low, high = (distinct // (tree.size + 1)).astype(np.int32), (distinct % (tree.size + 1)).astype(np.int32)
    if tree.ordered and shown not in ("hierarchy", "level"):
        return _range_labels(tree, low, high, tight=shown == "tight").gather(index)
    return _name_labels(tree, low, high, highest=shown == "level", level=level).gather(index)


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


def _name_labels(tree: Tree, lows: Codes, highs: Codes, *, highest: bool, level: int | None) -> pl.Series:
    found = pl.Series([None], dtype=pl.String).new_from_index(0, len(lows))
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
    nodes = pl.DataFrame({"run": named[run], "level": levels, "node": tree.nodes[levels, code]})
    written = _write_nodes(tree, nodes.select("level", "node").unique())
    sets = (
        nodes.join(written, on=["level", "node"], how="left", maintain_order="left")
        .group_by("run", maintain_order=True)
        .agg("name", "member")
        .select(
            "run",
            label=pl.when(pl.col("name").list.len() == 1)
            .then(pl.col("name").list.first())
            .otherwise("{" + pl.col("member").list.join(", ") + "}"),
        )
    )
    found = found.scatter(np.flatnonzero(root), labels.ANY)
    return found.scatter(sets["run"], sets["label"])


def _write_nodes(tree: Tree, nodes: pl.DataFrame) -> pl.DataFrame:
    """Write each node's name as it stands alone and as a member of a set."""
    names = [tree.names[level][node] for level, node in nodes.iter_rows()]
    # Names of intervals are ranges already, and need quotes only where a comma would separate them.
    alone = names if tree.ordered else [labels.write_name(name) for name in names]
    return nodes.with_columns(
        name=pl.Series(alone, dtype=pl.String),
        member=pl.Series([labels.write_member(name) for name in names], dtype=pl.String),
    )


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

"""The level of a hierarchy at which a label is: 0 for a value, the hierarchy's height for `*`."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, pick
from incrowd.core.labelled import shows_anything
from incrowd.hierarchies import labels
from incrowd.hierarchies.tree import Tree


def shown_levels(tree: Tree, lows: Codes, highs: Codes, shown: pl.Series) -> NDArray[np.int64]:
    """Return the level of each label; `lows` and `highs` are the runs of codes behind them.

    A label that is no node, such as a range between cuts or a set of names, has the level of the lowest node that
    covers it. Where nodes of several levels hold the same values, the name that is shown tells which one it is.
    Missing on its own is a value. Work is done once per distinct run.
    """
    keys = lows.astype(np.int64) * (tree.size + 1) + highs
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    return _distinct_levels(tree, lows[first], highs[first], pick(shown, first))[index]


def _distinct_levels(tree: Tree, lows: Codes, highs: Codes, shown: pl.Series) -> NDArray[np.int64]:
    lowest = np.argmax(tree.nodes[:, lows] == tree.nodes[:, highs - 1], axis=0)
    levels = np.where(shows_anything(shown), tree.height, lowest)
    # Which levels' nodes hold just the values of the run: in most trees one at most, and then no name need be read.
    alike = (tree.starts[:, lows] == lows) & (tree.ends[:, lows] == highs)
    open_runs = np.flatnonzero((levels < tree.height) & (alike.sum(axis=0) > 1))
    for level in range(tree.height):
        here = open_runs[alike[level, open_runs]]
        if not len(here):
            continue
        names = pick(tree.names[level], tree.nodes[level, lows[here]])
        found = here[_written(tree, names).eq_missing(pick(shown, here)).to_numpy()]
        levels[found] = level
        open_runs = np.setdiff1d(open_runs, found, assume_unique=True)
    return levels


def _written(tree: Tree, names: pl.Series) -> pl.Series:
    """Write names as labels do."""
    if tree.ordered:
        return names
    return pl.Series([None if name is None else labels.write_name(name) for name in names], dtype=pl.String)

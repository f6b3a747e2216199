"""The published label of a run of codes: a range, a node's name, or a set of names.

Labels are made once per distinct run of a column, not once per row.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl

from incrowd.hierarchies import labels
from incrowd.hierarchies.tree import LONGEST_SET, MISSING, Codes, Tree


def label_runs(
    tree: Tree, lows: Codes, highs: Codes, *, shown: Literal["region", "hierarchy", "tight"] = "region"
) -> pl.Series:
    """Return the label of every run `[low, high)` of codes; null for missing on its own.

    By region, numbers and dates are shown as ranges between cuts, open at the ends of the column, so that no bound is
    anybody's extreme value; by hierarchy, as nodes; tight, as the closed range from the smallest value to the largest.
    """
    keys = lows.astype(np.int64) * (tree.size + 1) + highs
    distinct, index = np.unique(keys, return_inverse=True)
    label = _name_label if not tree.ordered or shown == "hierarchy" else _LABELS_OF_ORDERED[shown]
    found = [label(tree, int(key) // (tree.size + 1), int(key) % (tree.size + 1)) for key in distinct]
    return pl.Series(found, dtype=pl.String).gather(index)


def _range_label(tree: Tree, low: int, high: int) -> str | None:
    if high - low == 1:
        name: str | None = tree.names[0][low]  # null for missing
        return name
    if low == MISSING:
        return labels.ANY
    return labels.write_range(None if low == 1 else tree.edges[low], None if high == tree.size else tree.edges[high])


def _tight_label(tree: Tree, low: int, high: int) -> str | None:
    if high - low > 1 and low != MISSING:
        return labels.write_closed(tree.names[0][low], tree.names[0][high - 1])
    return _range_label(tree, low, high)


_LABELS_OF_ORDERED = {"region": _range_label, "tight": _tight_label}


def _name_label(tree: Tree, low: int, high: int) -> str | None:
    if (low, high) == (MISSING, MISSING + 1):
        return None
    if low == MISSING or (low == 1 and high == tree.size and high - low > 1):
        return labels.ANY
    cover = tree.cover(low, high)
    if tree.ordered:  # interval names are ranges already and never need quotes
        return cover[0] if len(cover) == 1 else "{" + ", ".join(cover) + "}"
    return labels.write_name(cover[0]) if len(cover) == 1 else labels.write_set(cover)


def widen_to_showable(tree: Tree, lows: Codes, highs: Codes) -> tuple[Codes, Codes]:
    """Widen runs that only an overlong set could name to the lowest node that covers them."""
    long = np.flatnonzero((highs - lows > LONGEST_SET) & (lows != MISSING))
    if tree.ordered or not long.size:
        return lows, highs
    lows, highs = lows.copy(), highs.copy()
    runs, index = np.unique(np.stack([lows[long], highs[long]], axis=1), axis=0, return_inverse=True)
    overlong = np.array([len(tree.cover(int(low), int(high))) > LONGEST_SET for low, high in runs])[index]
    wide = long[overlong]
    lows[wide], highs[wide] = tree.common_nodes(lows[wide], highs[wide])
    return lows, highs

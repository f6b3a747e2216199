"""Losses that are a sum over columns of what each cell loses, by the names of the metrics that measure them.

`gcp` (certainty penalty, Xu et al. 2006), `loss` (Iyengar 2002), `precision` (Sweeney 2002; what is missing to 1) and
`non-uniform-entropy` (Gionis & Tassa 2009). What a vector of levels loses is then a sum over its levels, known before
anything is counted. A cell loses no less at a higher level, and most if its row is withheld. Cost: one pass over each
hierarchy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from incrowd.common.arrays import Codes, Floats
from incrowd.common.records import dataclass
from incrowd.core.tally import Tally
from incrowd.hierarchies.tree import MISSING


@dataclass(frozen=True, eq=False)
class CellLosses:
    """What a cell of a column loses: `shown[level, code]`, and `withheld[code]` if its row is withheld.

    What a cell keeps, the difference of the two, is the same for all codes of a node.
    """

    shown: Floats
    withheld: Floats


def certainty_penalty(tally: Tally, name: str) -> CellLosses:
    """Return the width of each code's node as a share of the column's own."""
    lows, highs = node_runs(tally, name)
    tree = tally.trees[name]
    return _all_if_withheld(np.stack([tree.widths(low, high) for low, high in zip(lows, highs, strict=True)]))


def leaf_loss(tally: Tally, name: str) -> CellLosses:
    """Return (m - 1) / (n - 1) for a node of m of the column's n known values, 1 where missing is among them."""
    lows, highs = node_runs(tally, name)
    losses = (highs - lows - 1) / max(tally.trees[name].size - 2, 1)
    return _all_if_withheld(np.where((lows == MISSING) & (highs > MISSING + 1), 1.0, losses))


def level_loss(tally: Tally, name: str) -> CellLosses:
    """Return the level over the height; missing shown as missing is level 0."""
    tree = tally.trees[name]
    levels = np.broadcast_to(np.arange(tree.height + 1.0)[:, None] / tree.height, tree.nodes.shape).copy()
    levels[:-1, MISSING] = 0.0
    return _all_if_withheld(levels)


def bits_lost(tally: Tally, name: str) -> CellLosses:
    """Return -log2 of each value's share of the rows of its node; a withheld cell is as good as the root."""
    lows, highs = node_runs(tally, name)
    counts = tally.value_counts(name)
    before = np.concatenate(([0], np.cumsum(counts)))
    covered = np.maximum(before[highs] - before[lows], 1)
    bits = np.where(counts > 0, np.log2(covered) - np.log2(np.maximum(counts, 1)), 0.0)
    return CellLosses(bits, bits[-1])


COLUMN_LOSSES: Mapping[str, Callable[[Tally, str], CellLosses]] = {
    "gcp": certainty_penalty,
    "loss": leaf_loss,
    "precision": level_loss,
    "non-uniform-entropy": bits_lost,
}


def node_runs(tally: Tally, name: str) -> tuple[Codes, Codes]:
    """Return the run of codes of each code's node at each level; the root holds missing only if the column does."""
    tree = tally.trees[name]
    lows = tree.starts.copy()
    if not tally.has_missing(name):
        lows[-1, 1:] = min(1, tree.size - 1)
    return lows, tree.ends


def _all_if_withheld(shown: Floats) -> CellLosses:
    return CellLosses(shown, np.ones(shown.shape[1]))

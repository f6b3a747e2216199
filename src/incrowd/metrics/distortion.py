"""Distortion (Sattar et al. 2013, Definition 10): how far values have climbed their hierarchies, a mean over columns.

A value at level l of a hierarchy that is h levels high, counted from the root, has 1 − l/h. A label that is no node
counts as the lowest node that holds it, and a withheld row as 1. Cost: one pass over the groups per column.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes
from incrowd.common.records import dataclass
from incrowd.common.renaming import renamed
from incrowd.core.labelled import Labelled
from incrowd.core.metric import Goal, Metric
from incrowd.core.tally import Tally
from incrowd.hierarchies.tree import MISSING, Tree


@renamed(published="published_only")
@dataclass(frozen=True)
class Distortion(Metric):
    """How far values have climbed their hierarchies, as a mean over rows and columns.

    Parameters
    ----------
    published_only : True leaves withheld rows out (default: False, a withheld row counts as 1).

    0: every value is published as it was. 1: nothing but `*`.

    Reference: Sattar et al. (2013), Definition 10.
    """

    published_only: bool = False
    name: ClassVar[str] = "distortion"
    plain_name: ClassVar[str] = "share of the levels that labels went up"
    goal: ClassVar[Goal] = "minimize"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def measure(self, before: Tally, release: Labelled) -> float:
        """Return the mean over rows and quasi-identifiers."""
        total = float((group_distortions(before, release) * release.group_sizes).sum())
        if self.published_only:
            return total / max(release.rows, 1)
        return (total + release.withheld) / max(release.rows_in, 1)


def group_distortions(before: Tally, release: Labelled) -> NDArray[np.float64]:
    """Return the distortion of each published group."""
    shown = release.shown
    total = np.zeros(len(shown))
    for place, name in enumerate(shown.columns):
        total += climbed(before.trees[name], shown.lows[:, place], shown.highs[:, place])
    return total / max(len(shown.columns), 1)


def climbed(tree: Tree, lows: Codes, highs: Codes) -> NDArray[np.float64]:
    """Return how far up the lowest node is that holds each run of codes: 0 for a value, 1 for the root."""
    level = np.argmax(tree.nodes[:, lows] == tree.nodes[:, highs - 1], axis=0)
    level = np.where((lows == MISSING) & (highs > 1), tree.height, level)  # no node but the root holds both
    return np.asarray(level / max(tree.height, 1))

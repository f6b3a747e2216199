"""Precision (Sweeney 2002, "Achieving k-anonymity privacy protection using generalization and suppression").

1 minus the mean, over all cells of quasi-identifiers, of the level at which the cell is shown over the height of its
hierarchy. So a step up costs the same wherever it is taken in a hierarchy, and more in a low hierarchy than in a high
one, whatever it does to the values. A label between levels counts as the lowest node that covers it, missing shown as
missing as level 0. A withheld row has no precision left. Cost: one pass over the groups per column.
"""

from __future__ import annotations

from typing import ClassVar

from incrowd.common.records import dataclass
from incrowd.core.labelled import Labelled
from incrowd.core.metric import Goal, Metric
from incrowd.core.tally import Tally
from incrowd.metrics.height import heights
from incrowd.metrics.over_rows import mean_over_columns


@dataclass(frozen=True)
class Precision(Metric):
    """1 minus the mean level of a cell, as a share of its hierarchy's height.

    1: every value is published as it was. 0: nothing but `*`.

    Reference: Sweeney (2002).
    """

    name: ClassVar[str] = "precision"
    plain_name: ClassVar[str] = "how much detail labels keep"
    goal: ClassVar[Goal] = "maximize"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def measure(self, before: Tally, release: Labelled) -> float:
        """Return the mean over rows and quasi-identifiers."""
        steps = heights(before, release)
        return 1.0 - mean_over_columns({name: steps[name] / before.trees[name].height for name in steps})

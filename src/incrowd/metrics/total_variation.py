"""Total variation: the share of rows that would have to change their value for a release to have the table's shares.

Of every column, or of every pair of columns, on average; a label's rows are spread evenly over what it may stand for
(`spreading.py`), and withheld rows count as if they were like the others. 0: all distributions are kept; 1: no value of
the table is left. Cost: that of counting columns or pairs; pairs with more than some millions of combinations are left
out (`distributions.py`).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from incrowd.common.records import dataclass
from incrowd.core.labelled import Labelled
from incrowd.core.metric import Goal, Metric
from incrowd.core.tally import Tally
from incrowd.forms.spreading import expected_counts, expected_pairs
from incrowd.metrics.distributions import comparable_pairs, distances, joint_counts


@dataclass(frozen=True)
class TotalVariation(Metric):
    """How far columns are from the table's, on average.

    0: all distributions are kept. 1: no value of the table is left.
    """

    name: ClassVar[str] = "total-variation"
    plain_name: ClassVar[str] = "how far counts of a column are off"
    goal: ClassVar[Goal] = "minimize"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def measure(self, before: Tally, release: Labelled) -> float:
        """Return the mean over quasi-identifiers and sensitive columns."""
        if not before.rows:
            return 0.0
        names = sorted(release.schema.tallied)
        found = [
            distances(before.value_counts(name).astype(np.float64), expected_counts(before, release, name))
            for name in names
        ]
        return sum(distance.total_variation for distance in found) / max(len(found), 1)


@dataclass(frozen=True)
class PairwiseTotalVariation(Metric):
    """How far pairs of columns are from the table's, on average.

    0: all distributions are kept. 1: no value of the table is left.
    """

    name: ClassVar[str] = "pairwise-total-variation"
    plain_name: ClassVar[str] = "how far counts of two columns together are off"
    goal: ClassVar[Goal] = "minimize"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def measure(self, before: Tally, release: Labelled) -> float:
        """Return the mean over all pairs that can be counted; 0 if there is none."""
        if not before.rows:
            return 0.0
        pairs = comparable_pairs(before, sorted(release.schema.tallied))
        found = []
        for one, two in pairs:
            sizes = before.trees[one].size, before.trees[two].size
            old = joint_counts(before.column(one), before.column(two), before.counts.astype(np.float64), sizes)
            found.append(distances(old, expected_pairs(before, release, one, two)).total_variation)
        return sum(found) / max(len(found), 1)

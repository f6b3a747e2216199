"""How much of what goes together in a table still does in its release.

The strength of every pair of columns is Cramér's V, corrected for chance (Bergsma 2013, "A bias-correction for Cramér's
V and Tschuprow's T"), before and after; after, over rows that are drawn from labels (`drawn_pairs.py`). What is kept
is Σ min(before, after) / Σ max(before, after). So an association that the release makes up counts against it as much as
one that it loses. A table without any has nothing to lose. Cost: that of counting all pairs.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from incrowd.common.records import dataclass
from incrowd.core.labelled import Labelled
from incrowd.core.metric import Goal, Metric
from incrowd.core.tally import Tally
from incrowd.metrics.distributions import association, comparable_pairs, joint_counts
from incrowd.metrics.drawn_pairs import drawn_associations

_NOTHING = 1e-9
"""Weaker associations are rounding."""


@dataclass(frozen=True)
class AssociationKept(Metric):
    """The share of the associations between columns that is kept.

    1: all of them. An association that the release makes up counts against it as much as one that it loses.
    """

    name: ClassVar[str] = "association-kept"
    plain_name: ClassVar[str] = "how much of what goes together is kept"
    goal: ClassVar[Goal] = "maximize"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def measure(self, before: Tally, release: Labelled) -> float:
        """Return the share over all pairs that can be counted."""
        kept = most = 0.0
        pairs = comparable_pairs(before, sorted(release.schema.tallied))
        for (one, two), new in zip(pairs, drawn_associations(before, release, pairs), strict=True):
            sizes = before.trees[one].size, before.trees[two].size
            counts = joint_counts(before.column(one), before.column(two), before.counts.astype(np.float64), sizes)
            old = association(counts)
            kept += min(old, new)
            most += max(old, new)
        return kept / most if most > _NOTHING else 1.0

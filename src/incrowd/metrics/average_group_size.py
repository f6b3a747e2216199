"""Average group size: published rows over groups (LeFevre et al. 2006 divide it by k besides)."""

from __future__ import annotations

from typing import ClassVar

from incrowd.common.records import dataclass
from incrowd.core.labelled import Labelled
from incrowd.core.metric import Goal, Metric
from incrowd.core.tally import Tally


@dataclass(frozen=True)
class AverageGroupSize(Metric):
    """How many rows share a group, on average over groups."""

    name: ClassVar[str] = "average-group-size"
    plain_name: ClassVar[str] = "rows of a group on average"
    goal: ClassVar[Goal] = "minimize"
    bounds: ClassVar[tuple[float, float]] = (1.0, float("inf"))

    def measure(self, before: Tally, release: Labelled) -> float:
        """Return the mean over groups; 0 where nothing is published."""
        return release.rows / len(release.shown) if len(release.shown) else 0.0

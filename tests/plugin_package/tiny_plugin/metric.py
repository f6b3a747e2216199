"""How much of the table is in its largest group. Cost: one pass over the groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from incrowd.core.labelled import Labelled
from incrowd.core.metric import Goal, Metric
from incrowd.core.tally import Tally


@dataclass(frozen=True)
class TinyMetric(Metric):
    """The share of all rows that look like each other most."""

    name: ClassVar[str] = "tiny-metric"
    goal: ClassVar[Goal] = "minimize"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def measure(self, before: Tally, release: Labelled) -> float:
        """Return the largest group's share."""
        return float(release.group_sizes.max(initial=0) / max(release.rows_in, 1))

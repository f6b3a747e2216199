"""Discernibility (Bayardo & Agrawal 2005): Σ |group|² + withheld × rows."""

from __future__ import annotations

from typing import ClassVar

from incrowd.common.records import dataclass
from incrowd.core.labelled import Labelled
from incrowd.core.metric import Goal, Metric
from incrowd.core.tally import Tally


@dataclass(frozen=True)
class Discernibility(Metric):
    """The rows that each row cannot be told from, summed over all rows.

    Reference: Bayardo & Agrawal (2005).
    """

    name: ClassVar[str] = "discernibility"
    plain_name: ClassVar[str] = "how many rows look like each row, summed"
    goal: ClassVar[Goal] = "minimize"
    bounds: ClassVar[tuple[float, float]] = (0.0, float("inf"))

    def measure(self, before: Tally, release: Labelled) -> float:
        """Return the penalty of the whole release."""
        sizes = release.group_sizes.astype(float)
        return float((sizes**2).sum() + release.withheld * release.rows_in)

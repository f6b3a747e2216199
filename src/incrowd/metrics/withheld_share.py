"""Withheld share: rows that are not published, of all that were to be."""

from __future__ import annotations

from typing import ClassVar

from incrowd.common.records import dataclass
from incrowd.core.labelled import Labelled
from incrowd.core.metric import Goal, Metric
from incrowd.core.tally import Tally


@dataclass(frozen=True)
class WithheldShare(Metric):
    """The share of rows that are withheld, of all that were to be published.

    0: every row is published. Rows that a sample left out do not count.
    """

    name: ClassVar[str] = "withheld-share"
    plain_name: ClassVar[str] = "share of rows that are not published"
    goal: ClassVar[Goal] = "minimize"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def measure(self, before: Tally, release: Labelled) -> float:
        """Return the share of rows that is withheld."""
        return release.withheld / max(release.rows_in, 1)

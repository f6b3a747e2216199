"""Withheld share: rows that are not published, of all that were to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from incrowd.metrics.metric import Goal
from incrowd.releases.generalized import Generalized
from incrowd.tally import Tally


@dataclass(frozen=True)
class WithheldShare:
    """0: every row is published. Rows that a sample left out were never to be."""

    name: ClassVar[str] = "withheld-share"
    goal: ClassVar[Goal] = "minimize"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def measure(self, before: Tally, release: Generalized) -> float:
        """Return the share of rows that is withheld."""
        return release.withheld / max(release.rows_in, 1)

"""Normalized certainty penalty (Xu et al. 2006): how wide the published values are, as a share of their column.

A number's or date's penalty is the width of its range over the column's own; that of a label that may stand for m of
the column's n names is (m - 1) / (n - 1) (Iyengar 2002), so that both go from 0 to 1. A withheld row costs 1 in every
column. The global penalty (GCP) is the mean over all rows and columns. Cost: one pass over the groups per column.
"""

from __future__ import annotations

from typing import ClassVar

from incrowd.common.records import dataclass
from incrowd.core.labelled import Labelled
from incrowd.core.metric import Goal, Metric
from incrowd.core.tally import Tally


@dataclass(frozen=True)
class GlobalCertaintyPenalty(Metric):
    """How wide the published values are, as a share of their column; a mean over rows and columns.

    0: every value is published as it was. 1: nothing but `*`.

    Reference: Xu et al. (2006).
    """

    name: ClassVar[str] = "gcp"
    plain_name: ClassVar[str] = "how wide labels are, on average"
    goal: ClassVar[Goal] = "minimize"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def measure(self, before: Tally, release: Labelled) -> float:
        """Return the mean penalty over rows and quasi-identifiers."""
        penalties = certainty_penalties(before, release)
        return sum(penalties.values()) / len(penalties) if penalties else 0.0


def certainty_penalties(before: Tally, release: Labelled) -> dict[str, float]:
    """Return the mean penalty of each quasi-identifier, withheld rows included."""
    shown, sizes = release.shown, release.group_sizes
    penalties = {}
    for place, name in enumerate(shown.columns):
        widths = before.trees[name].widths(shown.lows[:, place], shown.highs[:, place], shown.codes_each(name))
        penalties[name] = (float((widths * sizes).sum()) + release.withheld) / max(release.rows_in, 1)
    return penalties

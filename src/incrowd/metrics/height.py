"""Height (Samarati 2001, "Protecting respondents' identities in microdata release"): how far up values were taken.

The height of a row is the sum, over quasi-identifiers, of the levels at which it is shown: 0 where every value is as it
was. Where all rows share their levels this is the distance vector's sum, by which Samarati's search orders
generalizations; elsewhere it is the mean over rows. A label between levels counts as the lowest node that covers it,
missing shown as missing as level 0. A withheld row is at the top of every hierarchy. Cost: one pass over the groups per
column.
"""

from __future__ import annotations

from typing import ClassVar

from incrowd.common.records import dataclass
from incrowd.core.labelled import Labelled
from incrowd.core.metric import Goal, Metric
from incrowd.core.tally import Tally
from incrowd.metrics.label_levels import shown_levels
from incrowd.metrics.over_rows import mean_over_rows


@dataclass(frozen=True)
class Height(Metric):
    """Generalization steps per row.

    0: every value is published as it was. A withheld row is at the top of every hierarchy.

    Reference: Samarati (2001).
    """

    name: ClassVar[str] = "height"
    plain_name: ClassVar[str] = "how many levels up labels are"
    goal: ClassVar[Goal] = "minimize"
    bounds: ClassVar[tuple[float, float]] = (0.0, float("inf"))

    def measure(self, before: Tally, release: Labelled) -> float:
        """Return the mean over rows of the sum over quasi-identifiers."""
        return sum(heights(before, release).values())


def heights(before: Tally, release: Labelled) -> dict[str, float]:
    """Return the mean level of each quasi-identifier over all rows, withheld ones included."""
    shown = release.shown
    found = {}
    for place, name in enumerate(shown.columns):
        tree = before.trees[name]
        levels = shown_levels(tree, shown.lows[:, place], shown.highs[:, place], shown.labels[name])
        found[name] = mean_over_rows(release, levels.astype(float), withheld=tree.height)
    return found

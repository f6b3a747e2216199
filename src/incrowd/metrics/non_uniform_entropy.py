"""Non-uniform entropy (de Waal & Willenborg 1999; Gionis & Tassa 2009): the bits that labels leave open.

A cell that was x and is shown as R costs -log2 Pr(x | R) bits, where Pr counts how often values occur in the original
column: to show a rare value together with a frequent one costs the rare one's rows most, and to show values that nobody
has costs nothing. The sum over all cells is divided by what it would be if every cell were `*`, which is the rows times
the sum of the columns' entropies; so columns count by their entropy, and the value goes from 0 to 1. (Where no column
has any entropy, nothing can be lost: 0.) A withheld row costs as much as a row of `*`.

Cost: one pass over the groups and one over the tally per column. The rows' own values need not be looked up: with c(x)
rows that have x and c(R) that have a value in R, the sum is Σ log2 c(R) - Σ log2 c(x), each over all rows by itself. Of
a sample, the second sum is that of the whole table, scaled down.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from incrowd.common.records import dataclass
from incrowd.core.labelled import Labelled
from incrowd.core.metric import Goal, Metric
from incrowd.core.tally import Tally
from incrowd.forms.reach import meaning
from incrowd.metrics.over_rows import mean_over_rows


@dataclass(frozen=True)
class NonUniformEntropy(Metric):
    """The bits that labels leave open, as a share of what a table of `*` leaves open.

    0: every value is published as it was. 1: nothing but `*`.

    Reference: de Waal & Willenborg (1999); Gionis & Tassa (2009).
    """

    name: ClassVar[str] = "non-uniform-entropy"
    plain_name: ClassVar[str] = "how many bits of detail are lost"
    goal: ClassVar[Goal] = "minimize"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def measure(self, before: Tally, release: Labelled) -> float:
        """Return the bits lost, as a share of those that can be."""
        lost = possible = 0.0
        for name in release.shown.columns:
            bits_lost, bits = _bits(before, release, name)
            lost += bits_lost
            possible += bits
        return min(max(lost / possible, 0.0), 1.0) if possible > 0 else 0.0


def _bits(before: Tally, release: Labelled, name: str) -> tuple[float, float]:
    """Return the bits that a column's cells lose on average, and those that they would lose as `*`."""
    counts = before.value_counts(name)
    found = counts[counts > 0].astype(float)
    own = float((found * np.log2(found)).sum()) / max(before.rows, 1)
    everything = float(np.log2(max(before.rows, 1)))
    covered = np.maximum(meaning(before, release, name).mass(counts), 1)
    return mean_over_rows(release, np.log2(covered), withheld=everything) - own, everything - own

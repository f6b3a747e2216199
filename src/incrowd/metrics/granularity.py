"""Granularity: the share of a column's values that a published label may stand for.

It is what Iyengar's general loss (2002) is made of, before a single value is taken as no loss at all: m of n values
cost m / n. So it says how much of a column's domain a reader is left with, and a table that is published as it is has
1 / n, not 0: a value of a column of two names narrows it down to a half. (Programs that report 1 - loss under this
name, ARX among them, mean the opposite direction.) Missing is shown alone, as one value, or within `*`, and does not
count among the n. A withheld row leaves the whole domain. Cost: one pass over the groups per column.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Ints
from incrowd.common.records import dataclass
from incrowd.core.labelled import Labelled
from incrowd.core.metric import Goal, Metric
from incrowd.core.tally import Tally
from incrowd.hierarchies.tree import MISSING, Tree
from incrowd.metrics.over_rows import mean_over_columns, mean_over_rows


@dataclass(frozen=True)
class Granularity(Metric):
    """The mean share of a column's values that a cell may stand for.

    1: nothing but `*`. A table that is published as it was has 1 / (number of values), not 0.
    """

    name: ClassVar[str] = "granularity"
    plain_name: ClassVar[str] = "how wide labels are"
    goal: ClassVar[Goal] = "minimize"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def measure(self, before: Tally, release: Labelled) -> float:
        """Return the mean over quasi-identifiers."""
        return mean_over_columns(granularities(before, release))


def granularities(before: Tally, release: Labelled) -> dict[str, float]:
    """Return the mean share of each quasi-identifier over all rows, withheld ones included."""
    shown = release.shown
    return {
        name: mean_over_rows(
            release, _shares(before.trees[name], shown.lows[:, place], shown.codes_each(name)), withheld=1.0
        )
        for place, name in enumerate(shown.columns)
    }


def _shares(tree: Tree, lows: Codes, codes: Ints) -> NDArray[np.float64]:
    return np.where((lows == MISSING) & (codes > 1), 1.0, codes / max(tree.size - 1, 1))

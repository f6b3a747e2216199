"""The general loss metric (Iyengar 2002, "Transforming data to satisfy privacy constraints").

A label that may stand for m of a column's n values costs (m - 1) / (n - 1), whatever the kind of the column: 0 for a
single value, 1 for `*`. The certainty penalty (`gcp`) says the same of names, but measures numbers and dates by the
length of their range: where ages are 20, 21, 22 and 80, the range [20, 50) costs 2/3 here, since it leaves open which
of three in four values it was, and 2/60 there. Missing is shown alone, at no cost, or within `*`, and does not count
among the n. A withheld row costs 1 in every column; the loss is the mean over all rows and columns. Cost: one pass over
the groups per column.
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
class IyengarLoss(Metric):
    """The general loss: how many of a column's values a label may stand for, as a mean over rows and columns.

    0: every value is published as it was. 1: nothing but `*`.

    Reference: Iyengar (2002).
    """

    name: ClassVar[str] = "loss"
    plain_name: ClassVar[str] = "share of the values that a label covers"
    goal: ClassVar[Goal] = "minimize"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def measure(self, before: Tally, release: Labelled) -> float:
        """Return the mean loss over rows and quasi-identifiers."""
        return mean_over_columns(leaf_losses(before, release))


def leaf_losses(before: Tally, release: Labelled) -> dict[str, float]:
    """Return the mean loss of each quasi-identifier, withheld rows included."""
    shown = release.shown
    return {
        name: mean_over_rows(
            release, _losses(before.trees[name], shown.lows[:, place], shown.codes_each(name)), withheld=1.0
        )
        for place, name in enumerate(shown.columns)
    }


def _losses(tree: Tree, lows: Codes, codes: Ints) -> NDArray[np.float64]:
    return np.where((lows == MISSING) & (codes > 1), 1.0, (codes - 1) / max(tree.size - 2, 1))

"""What a reader of a release takes a label for: the values that it may stand for.

A column's domain is its known values, and missing where the table misses any. `*` stands for all of it, although the
method may have known that nobody in the group misses the value: "any known value" is written alike.
"""

from __future__ import annotations

import numpy as np

from incrowd.common.arrays import Codes
from incrowd.core.labelled import Labelled
from incrowd.core.tally import Tally
from incrowd.hierarchies import labels


def domain(before: Tally, name: str) -> tuple[int, int]:
    """Return the run of codes that are a column's domain."""
    return 0 if before.has_missing(name) else 1, before.trees[name].size


def reach(before: Tally, release: Labelled, name: str) -> tuple[Codes, Codes]:
    """Return, for each group, the run of codes that its label in a column may stand for."""
    shown = release.shown
    place = shown.columns.index(name)
    anything = (shown.labels[name] == labels.ANY).fill_null(value=False).to_numpy()
    first, last = domain(before, name)
    lows = np.where(anything, first, shown.lows[:, place]).astype(np.int32)
    highs = np.where(anything, last, shown.highs[:, place]).astype(np.int32)
    return lows, highs

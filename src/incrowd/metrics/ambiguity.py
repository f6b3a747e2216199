"""Ambiguity (Goldberger & Tassa 2010, "Efficient anonymizations with enhanced utility"): what a row may have been.

A published row may stand for as many original rows as there are combinations of the values that its labels cover; the
measure is the mean of that number over all rows. A withheld row may be anything. The number soon has dozens of digits,
and is decided by the few rows that are shown worst; so `mean_combinations_bits` returns its logarithm, and the metric
that logarithm over the one for a table of nothing but `*`: 0 if every row is certain, 1 if every row may be anything.
Cost: one pass over the groups per column.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from incrowd.common.records import dataclass
from incrowd.core.labelled import Labelled
from incrowd.core.metric import Goal, Metric
from incrowd.core.tally import Tally
from incrowd.forms.reach import domain, meaning


@dataclass(frozen=True)
class Ambiguity(Metric):
    """log(mean number of combinations) over log(all combinations): what a published row may have been.

    0: every value is published as it was. 1: nothing but `*`.

    Reference: Goldberger & Tassa (2010).
    """

    name: ClassVar[str] = "ambiguity"
    plain_name: ClassVar[str] = "how many combinations a row could stand for"
    goal: ClassVar[Goal] = "minimize"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def measure(self, before: Tally, release: Labelled) -> float:
        """Return the bits of ambiguity, as a share of those that there can be."""
        possible = _domain_bits(before, release)
        return min(max(mean_combinations_bits(before, release) / possible, 0.0), 1.0) if possible > 0 else 0.0


def mean_combinations_bits(before: Tally, release: Labelled) -> float:
    """Return log2 of the mean number of value combinations that a row may stand for."""
    bits = np.zeros(len(release.shown))
    for name in release.shown.columns:
        bits += np.log2(meaning(before, release, name).widths(before.trees[name].size))
    rows = np.append(release.group_sizes, release.withheld)
    bits = np.append(bits, _domain_bits(before, release))[rows > 0]
    most = float(bits.max(initial=0.0))
    return most + float(np.log2(np.average(np.exp2(bits - most), weights=rows[rows > 0]))) if bits.size else 0.0


def _domain_bits(before: Tally, release: Labelled) -> float:
    leaves = [last - first for first, last in (domain(before, name) for name in release.shown.columns)]
    return float(np.log2(np.maximum(leaves, 1)).sum())

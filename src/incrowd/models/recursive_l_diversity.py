"""Recursive (c,ℓ)-diversity: r1 < c·(rℓ + … + rm) in every group (Machanavajjhala et al. 2007).

r1 ≥ r2 ≥ … are the counts of a group's sensitive values, the most frequent first. Cost: one sort of the distinct
(group, value) pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.parameters import require_number, require_whole
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups, Histogram, one_value_each
from incrowd.core.model import Missing, Model, all_satisfied, judged_columns, of_what, require_missing


@dataclass(frozen=True)
class RecursiveLDiversity(Model):
    """The most frequent value is not too frequent, even after an adversary has ruled out l − 2 others.

    Parameters
    ----------
    c : the factor in r1 < c·(rl + … + rm), above 0; r1 ≥ r2 ≥ … are the counts of a group's values.
    l : the place of the first count in that sum, at least 1.
    column : the sensitive column to judge (default: each sensitive column).
    missing : "ignored" or "counts": what a missing value means (default: "ignored"). Ignored, it protects nobody: each
        group is judged by those of its people whose value is recorded, and one in which there is none is taken to have
        a single value. With "counts", missing is a value like any other.

    Where people have several rows, people are counted, each taken for one of their own values, so that r1 is as large
    and the sum as small as can be.

    Reference: Machanavajjhala et al. (2007).
    """

    c: float
    l: int
    column: str | None = None
    missing: Missing = "ignored"
    name: ClassVar[str] = "recursive-l-diversity"
    plain_name: ClassVar[str] = "no value is too frequent in a group"
    strictness: ClassVar[tuple[str, tuple[float, ...]]] = ("l", (2, 3, 5, 8))
    knows_values: ClassVar[bool] = False
    monotone: ClassVar[bool] = True
    hereditary: ClassVar[bool] = False
    holds_in_buckets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_number(self.name, "c", self.c, above=0)
        require_whole(self.name, "l", self.l, at_least=1)
        require_missing(self.name, self.missing)

    @property
    def diversity(self) -> float:
        """ℓ itself."""
        return self.l

    @property
    def asks_nothing(self) -> bool:
        """Whether every table satisfies it."""
        return self.l == 1 and self.c > 1

    @property
    def min_group(self) -> int:
        """The tail from the l-th value on must not be empty."""
        return self.l

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether r1 < c · (rl + … + rm) in each group."""
        return all_satisfied((ratio < self.c for ratio in self._ratios(groups)), groups)

    def achieved(self, groups: Groups) -> float:
        """Return the largest r1 / (rl + … + rm); any c above it is satisfied."""
        return max(float(ratio.max(initial=0.0)) for ratio in self._ratios(groups))

    def _ratios(self, groups: Groups) -> Iterator[NDArray[np.float64]]:
        for _, judged, found in judged_columns(groups, self.column, self.missing):
            yield ratios(one_value_each(found, judged.sizes), self.l)

    def __str__(self) -> str:
        return f"recursive ({self.c:g},{self.l})-diversity{of_what(self.column, self.missing)}"


def ratios(histogram: Histogram, l: int) -> NDArray[np.float64]:
    """Return r1 / (rl + … + rm) of each group; infinity where it has fewer than l values.

    A division rounds once and to the nearest, so that 55/50 is 1.1 as it is written; 1.1 · 50 is more than 55.
    """
    tail = tails(histogram, l)
    found = np.full(len(tail), np.inf)
    np.divide(histogram.largest, tail, out=found, where=tail > 0)
    return found


def tails(histogram: Histogram, l: int) -> NDArray[np.int64]:
    """Return rl + … + rm of each group; 0 where it has fewer than l values."""
    order = np.lexsort((-histogram.counts, histogram.group_of))
    rank = np.arange(len(order)) - histogram.offsets[:-1][histogram.group_of]
    tail = np.where(rank >= l - 1, histogram.counts[order], 0)
    groups = len(histogram.offsets) - 1
    return np.bincount(histogram.group_of, weights=tail, minlength=groups).astype(np.int64)

"""Probabilistic ℓ-diversity: no sensitive value makes up more than 1/ℓ of a group (Xiao & Tao 2006; Li et al. 2012).

Cost: one pass over the distinct (group, value) pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Floats
from incrowd.common.parameters import require_number
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups, Histogram
from incrowd.core.model import Missing, Model, all_satisfied, judged_columns, of_what, require_missing, smallest


@dataclass(frozen=True)
class ProbabilisticLDiversity(Model):
    """An adversary who knows a person's group guesses the sensitive value rightly with probability at most 1/`l`.

    Parameters
    ----------
    l : a number of at least 1, which need not be whole: no value makes up more than 1/`l` of a group.
    column : the sensitive column to judge (default: each sensitive column).
    missing : "ignored" or "counts": what a missing value means (default: "ignored"). Ignored, it protects nobody: each
        group is judged by those of its people whose value is recorded, and one in which there is none is taken to have
        a single value. With "counts", missing is a value like any other.

    Where people have several rows, people are counted: at most 1/`l` of a group's people have a value, however often.

    Reference: Xiao & Tao (2006); Li et al. (2012).
    """

    l: float
    column: str | None = None
    missing: Missing = "ignored"
    name: ClassVar[str] = "probabilistic-l-diversity"
    plain_name: ClassVar[str] = "no value is too frequent in a group"
    strictness: ClassVar[tuple[str, tuple[float, ...]]] = ("l", (1.5, 2, 3, 5, 8))
    knows_values: ClassVar[bool] = False
    monotone: ClassVar[bool] = True
    hereditary: ClassVar[bool] = False
    holds_in_buckets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_number(self.name, "l", self.l, at_least=1)
        require_missing(self.name, self.missing)

    @property
    def diversity(self) -> float:
        """ℓ itself."""
        return self.l

    @property
    def asks_nothing(self) -> bool:
        """Whether every table satisfies it."""
        return self.l == 1

    @property
    def min_group(self) -> int:
        """A single row is at most 1/l of l rows."""
        return math.ceil(self.l)

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether each group's most frequent value is at most 1/l of it."""
        return all_satisfied((spread >= self.l for spread in self._spreads(groups)), groups)

    def achieved(self, groups: Groups) -> float:
        """Return the smallest ratio of a group's size to its most frequent value."""
        return smallest(self._spreads(groups))

    def _spreads(self, groups: Groups) -> Iterator[Floats]:
        for _, judged, found in judged_columns(groups, self.column, self.missing):
            yield _spread(judged, found)

    def __str__(self) -> str:
        return f"probabilistic {self.l:g}-diversity{of_what(self.column, self.missing)}"


def _spread(groups: Groups, histogram: Histogram) -> NDArray[np.float64]:
    """Return each group's size over its most frequent value; a division, since 1.1 · 50 is more than 55 in floats."""
    spread = np.full(len(groups), np.inf)
    np.divide(groups.sizes, histogram.largest, out=spread, where=histogram.largest > 0)
    return spread

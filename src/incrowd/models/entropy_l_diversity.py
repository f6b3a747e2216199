"""Entropy ℓ-diversity: the sensitive values of every group have an entropy of at least log ℓ (Machanavajjhala 2007).

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
from incrowd.core.groups import Groups, Histogram, one_value_each
from incrowd.core.model import Missing, Model, all_satisfied, judged_columns, of_what, require_missing, smallest

_ROUNDING = 1e-12
"""ℓ equally frequent values have an entropy of exactly log ℓ; floating point may fall short of it by this much."""


@dataclass(frozen=True)
class EntropyLDiversity(Model):
    """In each group, the sensitive values are as spread as `l` equally frequent ones.

    Parameters
    ----------
    l : a number of at least 1, which need not be whole: the values of a group have an entropy of at least log `l`.
    column : the sensitive column to judge (default: each sensitive column).
    missing : "ignored" or "counts": what a missing value means (default: "ignored"). Ignored, it protects nobody: each
        group is judged by those of its people whose value is recorded, and one in which there is none is taken to have
        a single value. With "counts", missing is a value like any other.

    Where people have several rows, people are counted: the entropy is that of the least spread counts in which each
    person is taken for one of their own values, or less.

    Reference: Machanavajjhala et al. (2007).
    """

    l: float
    column: str | None = None
    missing: Missing = "ignored"
    name: ClassVar[str] = "entropy-l-diversity"
    plain_name: ClassVar[str] = "values are well mixed in each group"
    strictness: ClassVar[tuple[str, tuple[float, ...]]] = ("l", (1.5, 2, 3, 5, 8))
    knows_values: ClassVar[bool] = False
    monotone: ClassVar[bool] = True  # entropy is concave: a union's is at least the smaller of the two
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
        """An entropy of log l needs at least l values."""
        return math.ceil(self.l - _ROUNDING)

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether each group's entropy is at least log l."""
        enough = math.log(self.l) - _ROUNDING
        return all_satisfied((found >= enough for found in self._entropies(groups)), groups)

    def achieved(self, groups: Groups) -> float:
        """Return the exponential of the smallest entropy of any group."""
        return math.exp(smallest(self._entropies(groups)))

    def _entropies(self, groups: Groups) -> Iterator[Floats]:
        for _, judged, found in judged_columns(groups, self.column, self.missing):
            yield entropy(one_value_each(found, judged.sizes))

    def __str__(self) -> str:
        return f"entropy {self.l:g}-diversity{of_what(self.column, self.missing)}"


def entropy(histogram: Histogram) -> NDArray[np.float64]:
    """Return the natural-log entropy of each group's values."""
    groups = len(histogram.offsets) - 1
    counts = histogram.counts.astype(np.float64)
    sizes = np.bincount(histogram.group_of, weights=counts, minlength=groups)
    shares = counts / sizes[histogram.group_of]
    return np.bincount(histogram.group_of, weights=-shares * np.log(shares), minlength=groups).astype(np.float64)

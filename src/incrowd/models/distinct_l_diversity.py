"""Distinct ℓ-diversity: at least ℓ different sensitive values in every group (Machanavajjhala et al. 2007).

Cost: one pass over the distinct (group, value) pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Counts, Floats
from incrowd.common.parameters import require_whole
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups, one_value_each
from incrowd.core.model import Missing, Model, all_satisfied, judged_columns, of_what, require_missing, smallest


@dataclass(frozen=True)
class DistinctLDiversity(Model):
    """Each group holds at least `l` different values of every sensitive column, or of `column` alone.

    Parameters
    ----------
    l : the smallest number of different values in a group.
    column : the sensitive column to judge (default: each sensitive column).
    missing : "ignored" or "counts": what a missing value means (default: "ignored"). Ignored, it protects nobody: each
        group is judged by those of its people whose value is recorded, and one in which there is none is taken to have
        a single value. With "counts", missing is a value like any other.

    Where people have several rows, people are counted: however each person of a group is taken for one of their own
    values, at least `l` different ones remain. So a group in which everybody has the flu, among other things, fails.

    Reference: Machanavajjhala et al. (2007).
    """

    l: int
    column: str | None = None
    missing: Missing = "ignored"
    name: ClassVar[str] = "distinct-l-diversity"
    plain_name: ClassVar[str] = "several different values in each group"
    strictness: ClassVar[tuple[str, tuple[float, ...]]] = ("l", (2, 3, 5, 8))
    knows_values: ClassVar[bool] = False
    enough: ClassVar[Literal["values"]] = "values"
    monotone: ClassVar[bool] = True
    hereditary: ClassVar[bool] = True  # if people have one value each
    holds_in_buckets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_whole(self.name, "l", self.l, at_least=1)
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
        """l different values need l rows."""
        return self.l

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether each group has at least l different values."""
        return all_satisfied((distinct >= self.l for distinct in self._distinct(groups)), groups)

    def achieved(self, groups: Groups) -> float:
        """Return the fewest different values in any group."""
        return smallest(distinct.astype(np.float64) for distinct in self._distinct(groups))

    def _distinct(self, groups: Groups) -> Iterator[Counts]:
        for _, judged, found in judged_columns(groups, self.column, self.missing):
            yield one_value_each(found, judged.sizes).distinct

    def least_failing(self, groups: Groups) -> Floats:
        """Return 1 for groups whose parts all fail: they have too few values, or one that everybody has.

        Where people have several values, a part may satisfy what the whole group does not: of {ab}, {ab}, {c} and {d},
        who are taken for two values, the last three are taken for three.
        """
        failing = np.zeros(len(groups), dtype=bool)
        for _, judged, found in judged_columns(groups, self.column, self.missing):
            failing |= (found.distinct < self.l) | ((found.largest == judged.sizes) & (self.l > 1))
        return failing.astype(np.float64)

    def __str__(self) -> str:
        return f"distinct {self.l}-diversity{of_what(self.column, self.missing)}"


LDiversity = DistinctLDiversity
"""ℓ-diversity in its plainest reading: at least ℓ different values."""

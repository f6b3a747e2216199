"""(k,e)-anonymity: at least k different numbers in every group, and a range of at least e (Zhang et al. 2007).

ℓ-diversity takes any two values for different: five salaries within 0.1 % of each other are 5-diverse, and whoever
finds the group knows the salary. Cost: one sort of the distinct (group, value) pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Bools, Floats
from incrowd.common.parameters import require_number, require_whole
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups, one_value_each
from incrowd.core.model import Missing, Model, all_satisfied, of_what, require_missing
from incrowd.models.numeric_secrets import numeric_columns, smallest_ranges, whole_ranges

_ROUNDING = 2.0**-51
"""The difference of two decimals may fall short of what was written by this much of the larger one."""


@dataclass(frozen=True)
class KEAnonymity(Model):
    """Each group holds at least `k` different sensitive numbers, and the largest is at least `e` above the smallest.

    Parameters
    ----------
    k : the smallest number of different values in a group.
    e : the smallest range of a group's values, in the column's own unit; 0 or more.
    column : the sensitive column to judge, which holds numbers (default: each sensitive column).
    missing : "ignored" or "counts": what a missing value means (default: "ignored"). Ignored, it protects nobody: each
        group is judged by those of its people whose value is recorded, and one in which there is none is taken to have
        a single value. With "counts", missing is one more different value; the range is that of the numbers.

    Where people have several rows, people are counted: however each person of a group is taken for one of their own
    values, at least `k` different ones remain, and a range of at least `e`.

    A range tells of the two outermost values only: nine equal salaries and one far away have a large one. Ask for
    `MinimumVariance` or ℓ-diversity as well.

    >>> import incrowd as ic, polars as pl
    >>> pay = pl.DataFrame({"town": list("xxxxyyyy"), "pay": [30, 30.01, 30.02, 30.03, 10, 20, 40, 80]}, strict=False)
    >>> table = ic.read(pay, quasi=["town"], sensitive=["pay"])
    >>> ic.publish(table, ic.DistinctLDiversity(4)).form.group_sizes
    array([4, 4])
    >>> ic.publish(table, KEAnonymity(4, 10)).form.group_sizes
    array([8])

    Reference: Zhang, Koudas, Srivastava & Yu (2007).
    """

    k: int
    e: float
    column: str | None = None
    missing: Missing = "ignored"
    name: ClassVar[str] = "ke-anonymity"
    plain_name: ClassVar[str] = "look-alikes whose numbers differ enough"
    monotone: ClassVar[bool] = True
    hereditary: ClassVar[bool] = True  # if people have one value each
    holds_in_buckets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_whole(self.name, "k", self.k, at_least=1)
        require_number(self.name, "e", self.e, at_least=0)
        require_missing(self.name, self.missing)

    @property
    def diversity(self) -> float:
        """The k different values."""
        return self.k

    @property
    def asks_nothing(self) -> bool:
        """Whether every table satisfies it."""
        return self.k == 1 and self.e == 0

    @property
    def min_group(self) -> int:
        """k different values need k rows, and a range needs two."""
        return max(self.k, 2 if self.e > 0 else 1)

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether each group has enough different values, far enough apart."""
        return all_satisfied((enough & (ranges >= self.e) for enough, ranges, _ in self._found(groups)), groups)

    def achieved(self, groups: Groups) -> float:
        """Return the smallest range of any group: the largest e; none will do for a group with fewer than k values."""
        smallest = np.inf
        for enough, ranges, _ in self._found(groups):
            smallest = min(smallest, float(np.where(enough, ranges, -np.inf).min(initial=np.inf)))
        return smallest

    def least_failing(self, groups: Groups) -> Floats:
        """Return 1 for groups whose parts all fail: all values together are too few, or too near to each other."""
        failing = np.zeros(len(groups), dtype=bool)
        for _, _, hopeless in self._found(groups):
            failing |= hopeless
        return failing.astype(np.float64)

    def _found(self, groups: Groups) -> Iterator[tuple[Bools, Floats, Bools]]:
        """Yield, by column, whether groups have enough values, their ranges, and whether no part of them can do."""
        for name, judged, found, numbers in numeric_columns(self.name, groups, self.column, "ignored"):
            counted = judged if self.missing == "ignored" else groups
            entries = counted.sensitive[name]
            enough = one_value_each(entries, counted.sizes).distinct >= self.k
            lengths = whole_ranges(judged, found, numbers)
            # Where the difference was rounded down, the number that was written counts.
            slack = _ROUNDING * _largest(found.group_of, np.abs(numbers), len(groups))
            ranges = smallest_ranges(judged, found, numbers)
            yield (
                enough,
                np.where(ranges > 0, ranges + slack, 0.0),
                (entries.distinct < self.k) | (np.where(lengths > 0, lengths + slack, 0.0) < self.e),
            )

    def __str__(self) -> str:
        return f"({self.k},{self.e:g})-anonymity of numbers{of_what(self.column, self.missing)}"


def _largest(group_of: NDArray[np.int64], values: Floats, groups: int) -> Floats:
    found = np.zeros(groups)
    np.maximum.at(found, group_of, values)
    return found

"""Minimum variance: the sensitive numbers of every group are spread widely enough.

As (k,e)-anonymity, it sees that five salaries within 0.1 % of each other are as good as one (LeFevre, DeWitt &
Ramakrishnan 2006 use it for the diversity of numbers). Cost: one sort of the distinct (group, value) pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Floats
from incrowd.common.parameters import require_number
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups
from incrowd.core.model import Missing, Model, all_satisfied, of_what, require_missing
from incrowd.errors import RecipeError
from incrowd.hierarchies.tree import MISSING
from incrowd.hierarchies.tree_numbers import numbers_of
from incrowd.models.numeric_secrets import numeric_columns, smallest_variances

_ROUNDING = 1e-9
"""A variance is a sum of squares; one of exactly what was asked for may fall short of it, relatively, by this much."""


@dataclass(frozen=True)
class MinimumVariance(Model):
    """The variance of each group's sensitive numbers is at least `variance`, or a `share` of the whole table's.

    Parameters
    ----------
    variance : the smallest variance of a group, in the square of the column's unit; above 0. Or:
    share : the smallest variance of a group as a share of the variance in the whole table; above 0.
    column : the sensitive column to judge, which holds numbers (default: each sensitive column).
    missing : "ignored" only: a missing value has no place among numbers. Each group, and the table, is judged by those
        of its people whose value is recorded; a group in which there is none has a variance of 0.

    The variance is the mean squared distance from the mean of the group. It depends on a single value far away: ask for
    ℓ-diversity as well.

    Where people have several rows, people are counted: however each person is taken for one of their own values, the
    variance is at least so large.

    >>> import incrowd as ic, polars as pl
    >>> pay = pl.DataFrame({"town": list("xxxxyyyy"), "pay": [30, 30.01, 30.02, 30.03, 10, 20, 40, 80]}, strict=False)
    >>> table = ic.read(pay, quasi=["town"], sensitive=["pay"])
    >>> ic.publish(table, MinimumVariance(share=0.1)).form.group_sizes
    array([8])

    Reference: LeFevre, DeWitt & Ramakrishnan (2006).
    """

    variance: float | None = None
    share: float | None = None
    column: str | None = None
    missing: Missing = "ignored"
    name: ClassVar[str] = "minimum-variance"
    plain_name: ClassVar[str] = "numbers in a group are spread out"
    monotone: ClassVar[bool] = True  # a union's variance is at least the mean of the two
    monotone_with_several_values: ClassVar[bool] = False  # more values of one part may be near each other than people
    hereditary: ClassVar[bool] = False  # a part of a group may be spread more widely
    # A class can only say what holds for all of its instances; those that know better say so, in `__post_init__`.
    compares_with_table: ClassVar[bool] = True
    holds_in_buckets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if (self.variance is None) == (self.share is None):
            raise RecipeError(f"{self.name}: give either the variance or the share of the table's.")
        if self.variance is not None:
            require_number(self.name, "variance", self.variance, above=0)
        if self.share is not None:
            require_number(self.name, "share", self.share, above=0)
        require_missing(self.name, self.missing)
        if self.missing == "counts":
            raise RecipeError(f"{self.name}: a missing value has no place among numbers, so it cannot count.")
        object.__setattr__(self, "compares_with_table", self.share is not None)

    @property
    def min_group(self) -> int:
        """A variance above 0 needs two rows; where all numbers of the table are equal, a share of theirs needs none."""
        return 1 if self.variance is None else 2

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether the numbers of each group are spread widely enough."""
        return all_satisfied((found >= needed * (1 - _ROUNDING) for found, needed in self._found(groups)), groups)

    def achieved(self, groups: Groups) -> float:
        """Return the smallest variance of any group, or the smallest share of the table's."""
        smallest = np.inf
        for found, needed in self._found(groups):
            least = float(found.min(initial=np.inf))
            if self.share is not None:
                least = least * self.share / needed if needed else np.inf
            smallest = min(smallest, least)
        return smallest

    def _found(self, groups: Groups) -> Iterator[tuple[Floats, float]]:
        """Yield the variance in each group, by column, and how large it must be."""
        for name, judged, found, numbers in numeric_columns(self.name, groups, self.column, self.missing):
            needed = self.variance
            if needed is None:
                assert self.share is not None
                needed = self.share * _of_table(judged, name)
            yield smallest_variances(judged, found, numbers), needed

    def __str__(self) -> str:
        asked = f"{self.variance:g}" if self.variance is not None else f"{self.share:g} of the table's"
        return f"variance of at least {asked}{of_what(self.column, self.missing)}"


def _of_table(groups: Groups, name: str) -> float:
    """Return the variance of a column's recorded numbers in the whole table."""
    numbers = numbers_of(groups.trees[name]) if name in groups.trees else None
    if numbers is None:
        return 0.0
    shares = groups.shares(name)[MISSING + 1 :]
    weights, known = shares[: len(numbers) - 1], numbers[MISSING + 1 :][: len(shares)]
    total = weights.sum()
    if not total:
        return 0.0
    mean = weights @ known / total
    return float(weights @ (known - mean) ** 2 / total)

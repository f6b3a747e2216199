"""Journalist risk: the chance of naming the right person for a row without knowing who is in the table.

A row could be any of the people of the population whom its labels hold for, so the chance is 1/people (El Emam & Dankar
2008). A bound on the largest is k-map said as a probability. Cost: one count of the population in all groups' regions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Floats
from incrowd.core.groups import Groups
from incrowd.core.model import Model
from incrowd.errors import RecipeError
from incrowd.models.shares import fewest_rows, largest, require_share

_ROUNDING = 1 + 1e-12
"""Rows that all have just the risk allowed may have a mean that is above it in the last digit."""


@dataclass(frozen=True)
class JournalistRisk(Model):
    """No row is linked to its person with a probability above `risk`: k-map with k = 1/risk, rounded up.

    Parameters
    ----------
    risk : the largest probability, above 0 and at most 1.
    average : True bounds the mean over all rows instead of the largest probability (default: False).

    Where people have several rows, people are counted, not rows.

    You give the population when you read the table: `read(..., population=...)`. Without one, survey weights estimate
    it, as for k-map; `IndividualRisk` is the better measure then, since it knows that an estimate may be wrong.

    The mean is a property of all groups together: the share of rows that are linked rightly if all of them are linked.
    It is marketer risk for a table that is only a sample of the people whom the adversary knows. A method that judges a
    few groups at a time then holds each of them to the mean.

    A row that could be no person of the population counts as one that could be a single person.

    >>> import incrowd as ic
    >>> frame = ic.datasets.census(2000)
    >>> table = ic.read(frame[:200], quasi=["age", "sex", "education"], others="drop", population=frame)
    >>> release = ic.publish(table, JournalistRisk(0.1))
    >>> release.guarantees[0].achieved <= 0.1
    True

    Reference: El Emam & Dankar (2008).
    """

    risk: float
    average: bool = False
    name: ClassVar[str] = "journalist-risk"
    plain_name: ClassVar[str] = "the chance that a row is named by a register"
    monotone: ClassVar[bool] = True  # as for k-map: every row of a union could be at least as many people
    hereditary: ClassVar[bool] = True  # and every row of a part at most as many; so the mean goes the same way
    looks_at_values: ClassVar[bool] = False
    asks_population: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_share(self.name, "risk", self.risk, zero=False)
        if not isinstance(self.average, bool):
            raise RecipeError(f"{self.name}: average is true or false, not {self.average!r}.")

    @property
    def whole_table(self) -> bool:
        """A mean is one of all groups together."""
        return self.average

    @property
    def for_each_group(self) -> JournalistRisk:
        """A mean of rows that are all below a bound is below it."""
        return JournalistRisk(self.risk)

    @property
    def asks_nothing(self) -> bool:
        """Whether every table satisfies it."""
        return self.risk == 1

    @property
    def min_group(self) -> int:
        """A row alone will do if it could be enough people."""
        return 1

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether each group's rows, or all rows on average, could be enough people."""
        if self.average:
            return np.full(len(groups), self.achieved(groups) <= self.risk * _ROUNDING)
        return np.maximum(groups.population, 1) >= fewest_rows(self.risk)

    def achieved(self, groups: Groups) -> float:
        """Return the largest risk of any row, or the mean over all rows."""
        if not len(groups):
            return 0.0
        risks: Floats = 1 / np.maximum(groups.population, 1)
        return float(np.average(risks, weights=groups.sizes)) if self.average else largest([risks])

    def __str__(self) -> str:
        return f"{'average ' if self.average else ''}journalist risk of at most {self.risk:g}"

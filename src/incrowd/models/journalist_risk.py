"""Journalist risk: the chance of naming the right person for a row without knowing who is in the table.

A row could be any of the people of the population whom its labels hold for, so the chance is 1/people (El Emam & Dankar
2008). A bound on the largest is k-map said as a probability. Cost: one count of the population in all groups' regions.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Floats
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups
from incrowd.models.risk_of_links import RiskOfLinks
from incrowd.models.shares import fewest_rows


@dataclass(frozen=True)
class JournalistRisk(RiskOfLinks):
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

    name: ClassVar[str] = "journalist-risk"
    plain_name: ClassVar[str] = "the chance that a row is named by a register"
    monotone: ClassVar[bool] = True  # as for k-map: every row of a union could be at least as many people
    hereditary: ClassVar[bool] = True  # and every row of a part at most as many; so the mean goes the same way

    def risks(self, groups: Groups) -> Floats:
        """Return one over the people whom each group's labels hold for."""
        return np.asarray(1 / np.maximum(groups.population, 1))

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether each group's rows, or all rows on average, could be enough people."""
        if self.average:
            return super().satisfied(groups)
        return np.maximum(groups.population, 1) >= fewest_rows(self.risk)  # exactly: whole people are counted

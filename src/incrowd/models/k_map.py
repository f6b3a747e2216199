"""k-map: every published row could be at least k people of the population (Sweeney 2002).

Where k-anonymity counts the rows that look alike, k-map counts the people whom each of them could be: a single row is
safe if enough people who are not in the table look the same. It protects only against those who do not know who is in
the table. Cost: one count of the population in all groups' regions.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.parameters import require_whole
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups
from incrowd.core.model import Model


@dataclass(frozen=True)
class KMap(Model):
    """The labels of each row hold for at least `k` people of the population.

    Parameters
    ----------
    k : the smallest number of people whom a row could be.

    Where people have several rows, people are counted, not rows.

    You give the population when you read the table: `read(..., population=...)`. People are counted as the population's
    table has them, also where it has fewer than the published one. It protects only against those who do not know who
    is in the table. Without a population, survey weights estimate it (`read(..., weight=...)`): people are then the sum
    of the weights of those in the table whom the labels hold for, and the guarantee says that this is an estimate.

    >>> import incrowd as ic
    >>> frame = ic.datasets.census(2000)
    >>> table = ic.read(frame[:200], quasi=["age", "sex", "education"], others="drop", population=frame)
    >>> release = ic.publish(table, KMap(10))
    >>> release.guarantees[0].achieved >= 10
    True

    Reference: Sweeney (2002).
    """

    k: int
    name: ClassVar[str] = "k-map"
    plain_name: ClassVar[str] = "look-alikes in the population"
    strictness: ClassVar[tuple[str, tuple[float, ...]]] = ("k", (2, 3, 5, 10, 20, 50, 100))
    monotone: ClassVar[bool] = True  # what is shown of a union holds for all whom either part's labels hold for
    hereditary: ClassVar[bool] = True  # and what is shown of a part for no others than what is shown of the group
    looks_at_values: ClassVar[bool] = False
    asks_population: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_whole(self.name, "k", self.k, at_least=1)

    @property
    def asks_nothing(self) -> bool:
        """Whether every table satisfies it."""
        return self.k == 1

    @property
    def min_group(self) -> int:
        """A row alone will do if it could be enough people."""
        return 1

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether each group's labels hold for at least k people."""
        return groups.population >= self.k

    def achieved(self, groups: Groups) -> float:
        """Return the smallest number of people that the labels of any row hold for."""
        return float(groups.population.min()) if len(groups) else float("inf")

    def __str__(self) -> str:
        return f"{self.k}-map"

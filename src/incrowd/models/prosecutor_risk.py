"""Prosecutor risk: the chance of picking the right row for somebody known to be in the table (El Emam & Dankar 2008).

It is 1/size in every group, so a bound on it is k-anonymity said as a probability. Cost: one pass over the groups.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.records import dataclass
from incrowd.core.groups import Groups
from incrowd.core.model import Model
from incrowd.models.shares import fewest_rows, largest, require_share


@dataclass(frozen=True)
class ProsecutorRisk(Model):
    """No person is found with a probability above `risk`: k-anonymity with k = 1/risk, rounded up.

    Parameters
    ----------
    risk : the largest probability, above 0 and at most 1.

    Where people have several rows, people are counted, not rows.

    >>> ProsecutorRisk(0.3).satisfied(Groups(sizes=np.array([4, 3])))
    array([ True, False])

    Reference: El Emam & Dankar (2008).
    """

    risk: float
    name: ClassVar[str] = "prosecutor-risk"
    plain_name: ClassVar[str] = "the chance to find a known person's row"
    monotone: ClassVar[bool] = True  # as for k-anonymity
    hereditary: ClassVar[bool] = True
    looks_at_values: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_share(self.name, "risk", self.risk, zero=False)

    @property
    def asks_nothing(self) -> bool:
        """Whether every table satisfies it."""
        return self.risk == 1

    @property
    def min_group(self) -> int:
        """The k of k-anonymity."""
        return fewest_rows(self.risk)

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether each group has at least 1/risk rows."""
        return groups.sizes >= self.min_group

    def achieved(self, groups: Groups) -> float:
        """Return the risk in the smallest group."""
        return largest([1 / groups.sizes])

    def __str__(self) -> str:
        return f"prosecutor risk of at most {self.risk:g}"

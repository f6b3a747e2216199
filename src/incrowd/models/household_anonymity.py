"""k-anonymity of households: everybody's group has people of at least k households.

Five people who look alike may be one family, and a neighbour who looks for one of them then knows what is said of all.
Cost: one pass over the distinct (group, household) pairs.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.parameters import require_whole
from incrowd.common.records import dataclass
from incrowd.common.surface import as_role
from incrowd.core.groups import Groups
from incrowd.core.model import Model
from incrowd.core.schema import HOUSEHOLD
from incrowd.errors import NeedsTable


@dataclass(frozen=True)
class HouseholdAnonymity(Model):
    """Each group has people of at least `k` households.

    Parameters
    ----------
    k : the smallest number of households in a group.

    Name the column that tells who lives together when the table is read: `household="hid"`. `KAnonymity` and
    `AlphaKAnonymity` then require this model by themselves. Households are not published, so that the files of a
    release alone cannot show it.

    Reference: Hundepool et al. (2012), on risks within households.
    """

    k: int
    name: ClassVar[str] = "household-anonymity"
    plain_name: ClassVar[str] = "look-alikes from several households"
    monotone: ClassVar[bool] = True
    hereditary: ClassVar[bool] = True
    counts_households: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_whole(self.name, "k", self.k, at_least=1)

    @property
    def min_group(self) -> int:
        """Everybody is of one household, so that there are at least as many people."""
        return self.k

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether each group has people of at least k households."""
        return _households(groups) >= self.k

    def achieved(self, groups: Groups) -> float:
        """Return the number of households in the group that has fewest."""
        return float(_households(groups).min()) if len(groups) else float("inf")

    def __str__(self) -> str:
        return f"{self.k}-anonymity of households"


def _households(groups: Groups) -> NDArray[np.int64]:
    """Return how many households each group has people of."""
    if HOUSEHOLD not in groups.sensitive:
        raise NeedsTable(
            "nothing here tells who lives together.  "
            f"Hint: name the column that does when the table is read: {as_role('household', 'hid')}."
        )
    return groups.sensitive[HOUSEHOLD].distinct

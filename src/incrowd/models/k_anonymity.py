"""k-anonymity: everybody is in a group of at least k (Samarati 2001; Sweeney 2002). Cost: one pass over the groups."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from incrowd.common.parameters import require_whole
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups
from incrowd.core.model import Model
from incrowd.models.household_anonymity import HouseholdAnonymity


@dataclass(frozen=True)
class KAnonymity(Model):
    """Each published combination of quasi-identifiers is shared by at least `k` rows.

    Parameters
    ----------
    k : the smallest number of rows in a group. 1-anonymity holds for every table: it guarantees nothing, and the
        release says so.

    Where people have several rows, people are counted, not rows. Where households are known, `HouseholdAnonymity` is
    required beside it.

    >>> KAnonymity(2).satisfied(Groups(sizes=np.array([3, 1])))
    array([ True, False])

    Reference: Samarati (2001); Sweeney (2002).
    """

    k: int
    name: ClassVar[str] = "k-anonymity"
    plain_name: ClassVar[str] = "everybody looks like at least k − 1 others"
    strictness: ClassVar[tuple[str, tuple[float, ...]]] = ("k", (2, 3, 5, 10, 20, 50, 100))
    monotone: ClassVar[bool] = True
    hereditary: ClassVar[bool] = True
    looks_at_values: ClassVar[bool] = False
    enough: ClassVar[Literal["rows"]] = "rows"

    def __post_init__(self) -> None:
        require_whole("k-anonymity", "k", self.k, at_least=1)

    @property
    def asks_nothing(self) -> bool:
        """A row alone is a group of 1."""
        return self.k == 1

    @property
    def min_group(self) -> int:
        """No group below k."""
        return self.k

    @property
    def of_households(self) -> HouseholdAnonymity:
        """The same number of households."""
        return HouseholdAnonymity(self.k)

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether each group has at least k rows."""
        return groups.sizes >= self.k

    def achieved(self, groups: Groups) -> float:
        """Return the size of the smallest group."""
        return float(groups.sizes.min()) if len(groups) else float("inf")

    def __str__(self) -> str:
        return f"{self.k}-anonymity"

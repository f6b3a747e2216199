"""(α,k)-anonymity: groups of at least k, and no sensitive value above a share of α (Wong, Li, Fu & Wang 2006).

Cost: one pass over the distinct (group, value) pairs.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.parameters import require_whole
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups
from incrowd.core.model import Missing, Model, all_satisfied, judged_columns, of_what, require_missing
from incrowd.models.household_anonymity import HouseholdAnonymity
from incrowd.models.shares import fewest_rows, group_shares, groups_without, largest, require_share


@dataclass(frozen=True)
class AlphaKAnonymity(Model):
    """Each group has at least `k` rows, and each sensitive value makes up at most `alpha` of it.

    Parameters
    ----------
    alpha : the largest share of a group that one sensitive value may have, above 0 and at most 1.
    k : the smallest number of rows in a group.
    column : the sensitive column to judge (default: each sensitive column).
    missing : "ignored" or "counts": what a missing value means (default: "ignored"). Ignored, it protects nobody: each
        group is judged by those of its people whose value is recorded, and one in which there is none is taken to have
        a single value. With "counts", missing is a value like any other.

    Where people have several rows, people are counted: a value's share are the people who have it, however often.

    The paper bounds either one value or all of them. This model bounds all of them. Use `ConfidenceBounds` to bound
    values one by one.

    Reference: Wong, Li, Fu & Wang (2006).
    """

    alpha: float
    k: int
    column: str | None = None
    missing: Missing = "ignored"
    name: ClassVar[str] = "alpha-k-anonymity"
    plain_name: ClassVar[str] = "look-alikes, and no value too frequent among them"
    knows_values: ClassVar[bool] = False
    monotone: ClassVar[bool] = True  # a value's share of a union is at most the larger of its two shares
    hereditary: ClassVar[bool] = False  # {a, a, a, b} fails α = 1/2, its subgroup {a, b} does not

    def __post_init__(self) -> None:
        require_share(self.name, "alpha", self.alpha, zero=False)
        require_whole(self.name, "k", self.k, at_least=1)
        require_missing(self.name, self.missing)

    @property
    def asks_nothing(self) -> bool:
        """Whether every table satisfies it."""
        return self.alpha == 1 and self.k == 1

    @property
    def min_group(self) -> int:
        """No group below k, and a single row is at most alpha of the group."""
        return max(self.k, fewest_rows(self.alpha))

    @property
    def of_households(self) -> HouseholdAnonymity:
        """As many households as people."""
        return HouseholdAnonymity(self.k)

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether each group is large enough and no value too frequent in it."""
        found = judged_columns(groups, self.column, self.missing)
        mixed = all_satisfied((groups_without(h, group_shares(seen, h) > self.alpha) for _, seen, h in found), groups)
        return mixed & (groups.sizes >= self.k)

    def achieved(self, groups: Groups) -> float:
        """Return the largest share of any value in any group: the smallest alpha; none will do for a group below k."""
        if (groups.sizes < self.k).any():
            return float("inf")
        return largest(group_shares(seen, h) for _, seen, h in judged_columns(groups, self.column, self.missing))

    def __str__(self) -> str:
        return f"({self.alpha:g},{self.k})-anonymity{of_what(self.column, self.missing)}"

"""Enhanced β-likeness: as the basic one, and frequent values are bounded below certainty (Cao & Karras 2012).

(q − p) / p ≤ min(β, −ln p) for every value whose share q of the group is above its share p of the whole table: whatever
β is, q ≤ p·(1 − ln p), which is below 1 for every p below 1. Cost: one pass over the distinct (group, value) pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Floats
from incrowd.common.parameters import require_number
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups, Histogram
from incrowd.core.model import Missing, Model, all_satisfied, judged_columns, of_what, require_missing
from incrowd.models.beta_likeness import ROUNDING
from incrowd.models.shares import groups_without, largest, lifts


@dataclass(frozen=True)
class EnhancedBetaLikeness(Model):
    """No value of share p in the whole table is more than 1 + min(`beta`, −ln p) times as frequent in a group.

    Parameters
    ----------
    beta : how much more frequent a value may be, relative to its share of the table; above 0.
    column : the sensitive column to judge (default: each sensitive column).
    missing : "ignored" or "counts": what a missing value means (default: "ignored"). Ignored, it protects nobody: each
        group is judged by those of its people whose value is recorded, and one in which there is none is taken to have
        a single value. With "counts", missing is a value like any other.

    Where people have several rows, people are counted: a value's share are the people who have it, however often.

    Whatever `beta` is, a value's share of a group stays below 1, unless all rows of the table have that value.

    Reference: Cao & Karras (2012).
    """

    beta: float
    column: str | None = None
    missing: Missing = "ignored"
    name: ClassVar[str] = "enhanced-beta-likeness"
    plain_name: ClassVar[str] = "no value is much likelier in a group"
    monotone: ClassVar[bool] = True  # a value's share of a union is at most the larger of its two shares
    hereditary: ClassVar[bool] = False  # a part of a group can be more like the whole table than the group
    compares_with_table: ClassVar[bool] = True
    holds_in_buckets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_number(self.name, "beta", self.beta, above=0)
        require_missing(self.name, self.missing)

    @property
    def min_group(self) -> int:
        """A single row is allowed where all rows of the whole table are alike."""
        return 1

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether no value of each group gains more than beta, nor more than −ln p."""
        most = self.beta + (1 + self.beta) * ROUNDING
        found = self._needed(groups)
        return all_satisfied((groups_without(h, needed > most) for h, needed in found), groups)

    def achieved(self, groups: Groups) -> float:
        """Return the largest relative gain of any value in any group; no beta will do where one is above −ln p."""
        return largest(needed for _, needed in self._needed(groups))

    def __str__(self) -> str:
        return f"enhanced {self.beta:g}-likeness{of_what(self.column, self.missing)}"

    def _needed(self, groups: Groups) -> Iterator[tuple[Histogram, Floats]]:
        """Return each column's histogram and, for each of its entries, the smallest beta that allows it."""
        for name, judged, histogram in judged_columns(groups, self.column, self.missing):
            lift = lifts(judged, name, histogram)
            whole = judged.shares(name)[histogram.values]
            logs = np.log(whole, out=np.full(len(whole), -np.inf), where=whole > 0)
            yield histogram, np.where(lift > (1 - logs) * (1 + ROUNDING), np.inf, lift - 1)

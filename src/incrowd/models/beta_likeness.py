"""Basic β-likeness: seeing a group raises the belief in no sensitive value by more than β times (Cao & Karras 2012).

(q − p) / p ≤ β for every value whose share q of the group is above its share p of the whole table. Cost: one pass over
the distinct (group, value) pairs.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.parameters import require_number
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups
from incrowd.core.model import Missing, Model, all_satisfied, judged_columns, of_what, require_missing
from incrowd.models.shares import groups_without, largest, lifts

ROUNDING = 1e-12
"""A ratio of two shares may come out larger, relatively, by this much."""


@dataclass(frozen=True)
class BasicBetaLikeness(Model):
    """No value is more than 1 + `beta` times as frequent in a group as in the whole table.

    Parameters
    ----------
    beta : how much more frequent a value may be, relative to its share of the table; above 0.
    column : the sensitive column to judge (default: each sensitive column).
    missing : "ignored" or "counts": what a missing value means (default: "ignored"). Ignored, it protects nobody: each
        group is judged by those of its people whose value is recorded, and one in which there is none is taken to have
        a single value. With "counts", missing is a value like any other.

    Where people have several rows, people are counted: a value's share are the people who have it, however often.

    Falling shares are not bounded: the model takes it as harmless to learn that a person does not have a disease.

    Reference: Cao & Karras (2012).
    """

    beta: float
    column: str | None = None
    missing: Missing = "ignored"
    name: ClassVar[str] = "basic-beta-likeness"
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
        """A single row is allowed where its value is frequent enough in the whole table."""
        return 1

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether no value of each group gains more than beta."""
        most = (1 + self.beta) * (1 + ROUNDING)
        found = judged_columns(groups, self.column, self.missing)
        return all_satisfied((groups_without(h, lifts(seen, name, h) > most) for name, seen, h in found), groups)

    def achieved(self, groups: Groups) -> float:
        """Return the largest relative gain of any value in any group."""
        found = judged_columns(groups, self.column, self.missing)
        return largest(lifts(seen, name, h) - 1 for name, seen, h in found)

    def __str__(self) -> str:
        return f"basic {self.beta:g}-likeness{of_what(self.column, self.missing)}"

"""Marketer risk: the share of all rows that an adversary who links everybody gets right (El Emam & Dankar 2008).

One right row per group is to be expected, so it is groups / rows: the mean prosecutor risk. Cost: one pass over the
groups.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.records import dataclass
from incrowd.core.groups import Groups
from incrowd.core.model import Model
from incrowd.models.prosecutor_risk import ProsecutorRisk
from incrowd.models.shares import require_share


@dataclass(frozen=True)
class MarketerRisk(Model):
    """The mean of 1/size over all rows, which is the number of groups over that of rows, is at most `risk`.

    Parameters
    ----------
    risk : the largest mean, above 0 and at most 1.

    Where people have several rows, people are counted, not rows.

    This is a property of all groups together: every group gets the same verdict, that of the groups it is judged with.
    A method that judges a few groups at a time holds each of them to 1/size of at most `risk`, which is stricter than
    need be. A method that judges all groups at once, such as the full-domain search, lets large groups make up for
    small ones. If it then withholds large groups because of another model, the mean of the published ones can exceed
    the risk, and the release is refused.

    The adversary knows who is in the table. For one who does not, use `JournalistRisk(risk, average=True)`, which takes
    the mean over a population.

    >>> MarketerRisk(0.5).satisfied(Groups(sizes=np.array([3, 1])))
    array([ True,  True])

    Reference: El Emam & Dankar (2008).
    """

    risk: float
    name: ClassVar[str] = "marketer-risk"
    plain_name: ClassVar[str] = "the share of people who can be named"
    monotone: ClassVar[bool] = True  # joining two groups leaves one group less on the same rows
    hereditary: ClassVar[bool] = True  # splitting one leaves one more; true of all groups over the same rows
    looks_at_values: ClassVar[bool] = False
    whole_table: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_share(self.name, "risk", self.risk, zero=False)

    @property
    def for_each_group(self) -> ProsecutorRisk:
        """A mean of rows that are all below a bound is below it."""
        return ProsecutorRisk(self.risk)

    @property
    def asks_nothing(self) -> bool:
        """Whether every table satisfies it."""
        return self.risk == 1

    @property
    def min_group(self) -> int:
        """A small group may be made up for by large ones."""
        return 1

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether the mean risk is small enough, the same for every group."""
        return np.full(len(groups), self.achieved(groups) <= self.risk)

    def achieved(self, groups: Groups) -> float:
        """Return the number of groups over the number of rows."""
        return len(groups) / float(groups.sizes.sum()) if len(groups) else 0.0

    def __str__(self) -> str:
        return f"marketer risk of at most {self.risk:g}"

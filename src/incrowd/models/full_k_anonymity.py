"""Full k-anonymity: every published row, sensitive values included, occurs at least k times (Li, Qardaji & Su 2012).

All published attributes are taken for quasi-identifiers, since any of them may be known. Cost: one pass over
the distinct (group, combination of sensitive values) pairs.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Counts
from incrowd.common.parameters import require_whole
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups, Histogram
from incrowd.core.model import Model
from incrowd.errors import SchemaError


@dataclass(frozen=True)
class FullKAnonymity(Model):
    """Each combination of quasi-identifiers and sensitive values is shared by at least `k` rows.

    Parameters
    ----------
    k : the smallest number of rows with the same combination.

    Where people have several rows, people are counted, not rows.

    All sensitive columns count together. A table with kept columns or pseudonyms is refused: they would be published
    outside of the promise.

    Reference: Li, Qardaji & Su (2012).
    """

    k: int
    name: ClassVar[str] = "full-k-anonymity"
    plain_name: ClassVar[str] = "look-alikes in every column"
    monotone: ClassVar[bool] = True  # a combination occurs in a union at least as often as in either part
    covers_all_columns: ClassVar[bool] = True
    hereditary: ClassVar[bool] = False  # {a, a, b} fails k = 2, its subgroup {a, a} does not

    def __post_init__(self) -> None:
        require_whole(self.name, "k", self.k, at_least=1)

    @property
    def asks_nothing(self) -> bool:
        """Whether every table satisfies it."""
        return self.k == 1

    @property
    def min_group(self) -> int:
        """No combination below k, so no group either."""
        return self.k

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether each combination in each group occurs at least k times."""
        return _rarest(groups) >= self.k

    def achieved(self, groups: Groups) -> float:
        """Return how often the rarest combination occurs."""
        return float(_rarest(groups).min()) if len(groups) else float("inf")

    def __str__(self) -> str:
        return f"full {self.k}-anonymity"


def _rarest(groups: Groups) -> Counts:
    """Return the count of the rarest combination in each group."""
    rarest = groups.sizes.copy()
    if groups.secrets:
        histogram = _combinations(groups)
        np.minimum.at(rarest, histogram.group_of, histogram.counts)
    return rarest


def _combinations(groups: Groups) -> Histogram:
    if len(groups.secrets) == 1:
        return groups.sensitive[groups.secrets[0]]
    if groups.joint is None or len(groups.secrets) < len(groups.sensitive):  # households are none of a combination
        raise SchemaError(
            "full-k-anonymity: combinations of several sensitive columns are not counted here.  "
            "Hint: use a method that counts them, or leave one column sensitive."
        )
    return groups.joint()

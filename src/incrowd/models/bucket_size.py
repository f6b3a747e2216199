"""Bucket size: everybody shares a bucket, or a group, with enough others. Cost: one pass over the groups."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.parameters import require_whole
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups
from incrowd.core.model import Model


@dataclass(frozen=True)
class BucketSize(Model):
    """Each bucket has at least `rows` rows; in a generalized table, each group.

    Parameters
    ----------
    rows : the smallest number of rows in a bucket.

    Where people have several rows, people are counted, not rows.

    This is what can be asked of sizes where quasi-identifiers are published as they are, as Anatomy and slicing do.
    It is not k-anonymity: a bucket of 20 rows may show 20 different people. It bounds how small the crowd is whose
    sensitive values are mixed; ask for diversity, too, so that these values differ.

    >>> BucketSize(2).satisfied(Groups(sizes=np.array([3, 1])))
    array([ True, False])
    """

    rows: int
    name: ClassVar[str] = "bucket-size"
    plain_name: ClassVar[str] = "at least so many people share a bucket"
    monotone: ClassVar[bool] = True
    hereditary: ClassVar[bool] = True
    holds_in_buckets: ClassVar[bool] = True
    looks_at_values: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_whole(self.name, "rows", self.rows, at_least=1)

    @property
    def asks_nothing(self) -> bool:
        """Whether every table satisfies it."""
        return self.rows == 1

    @property
    def min_group(self) -> int:
        """No bucket below `rows`."""
        return self.rows

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether each bucket has enough rows."""
        return groups.sizes >= self.rows

    def achieved(self, groups: Groups) -> float:
        """Return the size of the smallest bucket."""
        return float(groups.sizes.min()) if len(groups) else float("inf")

    def __str__(self) -> str:
        return f"buckets of at least {self.rows} rows"

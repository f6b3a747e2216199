"""A release in generalized form whose tally never came to the driver: its groups are known by their sizes alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Counts
from incrowd.common.records import dataclass
from incrowd.core.form import FormOutline
from incrowd.core.model import Guarantee
from incrowd.core.schema import Schema
from incrowd.engines.spark.published import Published


class CountedOnSpark(FormOutline):
    """Groups that are known by their sizes: `sizes[i]` is the size of `groups[i]` of them."""

    sizes: Counts
    groups: NDArray[np.int64]
    rows_in: int

    @property
    def rows(self) -> int:
        """Rows that are published."""
        return int((self.sizes * self.groups).sum())

    @property
    def withheld(self) -> int:
        """Rows that are not."""
        return self.rows_in - self.rows

    @property
    def group_sizes(self) -> Counts:
        """Rows in each group, in order of size."""
        return np.repeat(self.sizes, self.groups)


@dataclass(frozen=True, eq=False)
class GeneralizedOnSpark(CountedOnSpark):
    """Generalized rows on Spark; `sizes[i]` is the size of `groups[i]` groups."""

    schema: Schema
    published: Published
    sizes: Counts
    groups: NDArray[np.int64]
    penalties: Mapping[str, float]
    guarantees: tuple[Guarantee, ...]
    made_up: tuple[str, ...]
    """Quasi-identifiers whose hierarchy was made from the data, where that shows."""
    tight: bool
    rows_in: int
    name: ClassVar[str] = "generalized"
    listed: ClassVar[bool] = False

    def losses(self) -> dict[str, Any]:
        """Return the certainty penalties, in total and by column, and what the groups' sizes cost."""
        return {
            "gcp": sum(self.penalties.values()) / max(len(self.penalties), 1),
            "ncp": dict(self.penalties),
            "discernibility": float((self.sizes.astype(np.float64) ** 2 * self.groups).sum()),
            "average group size": self.rows / max(int(self.groups.sum()), 1),
        }

    def warnings(self) -> list[str]:
        """Return what the labels show beyond their groups."""
        found = []
        if self.tight:
            found.append(
                "Labels are tight ranges: a range's bounds are values of people in the group, which shows extreme ones."
            )
        if self.made_up:
            found.append(f"Hierarchies made from the data itself: {', '.join(self.made_up)}.")
        return found

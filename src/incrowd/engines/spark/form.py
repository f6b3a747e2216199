"""A release in generalized form whose tally never came to the driver: its groups are known by their sizes alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.engines.spark.arrow import to_polars
from incrowd.engines.spark.publishing import Published
from incrowd.errors import QueryError
from incrowd.models.model import Guarantee, Model
from incrowd.releases.query import Query
from incrowd.schema import Schema
from incrowd.tally import Counts, Tally


@dataclass(frozen=True, eq=False)
class GeneralizedOnSpark:
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
    name: ClassVar[str] = "generalized"

    @property
    def tally(self) -> Tally:
        """Refuse: it is too large to come here."""
        raise QueryError("the table's tally is too large for the driver.  Hint: ask Spark, with `release.data`.")

    @property
    def rows(self) -> int:
        """Rows that are published."""
        return int((self.sizes * self.groups).sum())

    @property
    def rows_in(self) -> int:
        """The same: nothing is withheld."""
        return self.rows

    @property
    def withheld(self) -> int:
        """Nothing."""
        return 0

    @property
    def group_sizes(self) -> Counts:
        """Rows in each group, in order of size."""
        return np.repeat(self.sizes, self.groups)

    def verify(self, require: Sequence[Model], before: Tally) -> list[Guarantee]:
        """Return what Spark verified."""
        return list(self.guarantees)

    def count(self, query: Query) -> float:
        """Refuse: questions are Spark's business."""
        raise QueryError("this release is on Spark.  Hint: ask Spark, with `release.data`.")

    def batches(self, rows_per_batch: int) -> Iterator[pl.DataFrame]:
        """Bring the published rows to the driver, all at once."""
        yield to_polars(self.published.frame)

    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Return what is published besides the rows: nothing."""
        return {}

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

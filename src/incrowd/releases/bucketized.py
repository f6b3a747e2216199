"""A release in bucketized form: quasi-identifiers as they are, with a bucket's number; what its people have, apart.

Anatomy's two tables (Xiao & Tao 2006): one of quasi-identifiers and buckets, one of buckets, sensitive values and how
often they occur there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from incrowd.releases.sliced import SlicedTable
from incrowd.tally import group_tuples

COUNT_NAMES = ("count", "rows", "_count")


@dataclass(frozen=True, eq=False)
class BucketizedTable(SlicedTable):
    """Two tables that only the bucket's number connects."""

    name: ClassVar[str] = "bucketized"

    def batches(self, rows_per_batch: int) -> Iterator[pl.DataFrame]:
        """Yield the table of quasi-identifiers, bucket by bucket."""
        for rows in super().batches(rows_per_batch):
            yield rows.drop(self.schema.sensitive)

    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Return the table of sensitive values: how often each combination occurs in each bucket."""
        names = tuple(self.schema.sensitive)
        parts = self.buckets.tuples
        codes = np.stack([self.buckets.bucket_of, *(self.shown.column(name)[parts] for name in names)], axis=1)
        index, first = group_tuples(
            codes.astype(np.int32), [len(self.buckets), *(self.shown.trees[name].size for name in names)]
        )
        counts = np.bincount(index, weights=self.buckets.counts, minlength=len(first)).astype(np.int64)
        lines = codes[first]
        values = {name: self.values(name).gather(lines[:, place]) for place, name in enumerate(names, start=1)}
        count = next(name for name in COUNT_NAMES if name not in self.schema.tallied)
        return {"sensitive": pl.DataFrame({self.bucket_name: lines[:, 0], **values, count: counts})}

"""A release in multiset-based form: every row shows how often each value of its bucket occurs in each quasi-identifier.

It tells the same as a table with each attribute in a column of its own, and keeps rows whole (Slicing, figure 4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
import polars as pl

from incrowd.common.arrays import Counts
from incrowd.common.records import dataclass
from incrowd.core.form import PublishedFiles
from incrowd.core.recoding import Recoding, Showing
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.forms.reading.slices import dealt_multisets
from incrowd.forms.sliced import SlicedTable, all_columns, sliced
from incrowd.forms.slices.permutation import Permuted
from incrowd.hierarchies.labels import write_member
from incrowd.hierarchies.values import as_text


@dataclass(frozen=True)
class ShowMultisets(Showing):
    """Show the exact values of a group, and how often each occurs, in place of a range that covers them."""

    name: ClassVar[str] = "multisets"
    one_row_each: ClassVar[bool] = True

    def show(
        self, tally: Tally, schema: Schema, recoding: Recoding, *, rows_in: int, rng: np.random.Generator
    ) -> MultisetTable:
        """Count the values of every group."""
        columns = all_columns((), schema)
        return sliced(MultisetTable, tally, schema, recoding, columns, rows_in=rows_in, rng=rng)


@dataclass(frozen=True, eq=False)
class MultisetTable(SlicedTable):
    """Counts of a bucket's values in place of anybody's own."""

    name: ClassVar[str] = "multisets"

    @classmethod
    def recognizes(cls, files: PublishedFiles) -> bool:
        """Never: labels of multisets look like names."""
        return False

    @classmethod
    def _written_rows(cls, files: PublishedFiles) -> pl.DataFrame:
        return dealt_multisets(files)

    def canonical(self, before: Tally) -> Self:
        """Pair the values of a bucket by chance, and always alike: no file tells in which order they were."""
        rng = np.random.default_rng(0)
        places = range(len(self.columns))
        tuples = np.stack([self.permuted.tuples[place][self.order_by_chance(place, rng)] for place in places])
        return replace(self, permuted=Permuted(self.permuted.bucket_of, tuples))

    def rows_alike(self) -> Counts:
        """Return the sizes of buckets: all rows of one show the same, whoever they are."""
        return self.group_sizes

    @cached_property
    def labels(self) -> dict[str, pl.Series]:
        """What each bucket shows in each quasi-identifier, such as `22:2, 33:1, 52:1`; missing is an empty name."""
        return {name: self._label(name) for name in self.schema.quasi}

    def _label(self, name: str) -> pl.Series:
        codes, buckets = self.shown.column(name)[self.buckets.tuples], self.buckets
        size = self.shown.trees[name].size
        keys, index = np.unique(buckets.bucket_of * size + codes, return_inverse=True)
        counts = np.bincount(index, weights=buckets.counts, minlength=len(keys)).astype(np.int64)
        spelled = as_text(self.values(name)).fill_null("")
        texts = pl.Series([write_member(text) if text else "" for text in spelled.to_list()], dtype=pl.String)
        entries = pl.DataFrame({"bucket": keys // size, "value": texts.gather(keys % size), "count": counts})
        return (
            entries.select("bucket", entry=pl.format("{}:{}", "value", "count"))
            .group_by("bucket", maintain_order=True)
            .agg(pl.col("entry").str.join(", "))
            .sort("bucket")["entry"]
        )

    def batches(self, rows_per_batch: int) -> Iterator[pl.DataFrame]:
        """Yield the rows bucket by bucket, sensitive values in an order of their own."""
        for rows in super().batches(rows_per_batch):
            bucket = rows[self.bucket_name]
            yield rows.with_columns(self.labels[name].gather(bucket).alias(name) for name in self.schema.quasi)

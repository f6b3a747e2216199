"""What a sliced table is made of: rows in buckets, columns of attributes permuted within them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import polars as pl

from incrowd.common.arrays import Counts, Ints
from incrowd.common.records import dataclass
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.forms.slices.permutation import Permuted
from incrowd.forms.slices.slices import Buckets, Slices, slice_tally

Columns = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class SlicedRows:
    """Buckets of rows, each column of attributes permuted within them.

    `shown` is the table's tally with the values that are published, which are less specific where columns are
    generalized; `levels` says at which level. `permuted` holds the rows as they are written.
    """

    schema: Schema
    tally: Tally
    shown: Tally
    levels: Mapping[str, int]
    columns: Columns
    buckets: Buckets
    permuted: Permuted
    rows_in: int
    label_columns: tuple[str, ...] = ()
    """Generalized columns that were read from files without the table before: their values are labels."""
    bucket_of_group: Ints | None = None
    """The number of the bucket that each group of the method became, where that is known."""

    @property
    def generalized(self) -> tuple[str, ...]:
        """Columns that show labels in place of values."""
        return (*self.label_columns, *(name for name, level in self.levels.items() if level))

    def values(self, name: str) -> pl.Series:
        """Return what each code of a column is shown as."""
        tree, level = self.tally.trees[name], self.levels.get(name, 0)
        return tree.values if not level else tree.names[level].gather(tree.nodes[level])

    @property
    def rows(self) -> int:
        """Number of rows that are published."""
        return int(self.buckets.counts.sum())

    @property
    def withheld(self) -> int:
        """Number of rows that are not."""
        return self.rows_in - self.rows

    @cached_property
    def group_sizes(self) -> Counts:
        """Rows of each bucket."""
        return self.buckets.sizes

    @cached_property
    def slices(self) -> Slices:
        """The distinct tuples, cut into columns, as an adversary knows them."""
        return slice_tally(self.shown, self.columns, tuple(self.schema.sensitive))

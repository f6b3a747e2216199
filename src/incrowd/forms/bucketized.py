"""A release in bucketized form: quasi-identifiers as they are, with a bucket's number; what its people have, apart.

Anatomy's two tables (Xiao & Tao 2006): one of quasi-identifiers and buckets, one of buckets, sensitive values and how
often they occur there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from incrowd.common.records import dataclass
from incrowd.core.form import PublishedFiles
from incrowd.core.groups import Histogram, histogram
from incrowd.core.recoding import Recoding, Showing
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally, group_tuples
from incrowd.errors import RecipeError, SchemaError
from incrowd.forms.reading.slices import COUNT_NAMES, bucket_column, dealt_rows
from incrowd.forms.sliced import SlicedTable, sliced


@dataclass(frozen=True)
class ShowBuckets(Showing):
    """Show all quasi-identifiers of a row together, and its sensitive values with those of its group.

    Parameters
    ----------
    tables : "one" or "two" (default: "two"). "two" publishes quasi-identifiers and sensitive values in separate tables,
        connected by the bucket's number. "one" puts the sensitive values beside the quasi-identifiers in random order.
    """

    tables: Literal["one", "two"] = "two"
    name: ClassVar[str] = "bucketized"
    one_row_each: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.tables not in ("one", "two"):
            raise RecipeError(f'bucketized: tables is "one" or "two", not {self.tables!r}.')

    def columns_in_parts(self, schema: Schema) -> tuple[str, ...]:
        """Return the quasi-identifiers, and the sensitive columns where these are in the same table."""
        return tuple(name for name in schema.tallied if name in schema.quasi or self.tables == "one")

    def show(
        self, tally: Tally, schema: Schema, recoding: Recoding, *, rows_in: int, rng: np.random.Generator
    ) -> SlicedTable:
        """Take the sensitive values out of the rows."""
        if not schema.sensitive:
            raise SchemaError("a bucketized table needs a sensitive column.  Hint: name one.")
        kind = BucketizedTable if self.tables == "two" else SlicedTable
        columns = (tuple(schema.quasi), tuple(schema.sensitive))
        return sliced(kind, tally, schema, recoding, columns, rows_in=rows_in, rng=rng)


@dataclass(frozen=True, eq=False)
class BucketizedTable(SlicedTable):
    """Two tables that only the bucket's number connects."""

    name: ClassVar[str] = "bucketized"
    other_tables: ClassVar[tuple[str, ...]] = ("sensitive",)

    @classmethod
    def recognizes(cls, files: PublishedFiles) -> bool:
        """Whether a column numbers buckets, and a second table has their sensitive values."""
        return bucket_column(files) is not None and "sensitive" in files.others

    @classmethod
    def _written_rows(cls, files: PublishedFiles) -> pl.DataFrame:
        return dealt_rows(files)

    def _shown_places(self) -> dict[str, tuple[str, int]]:
        """Return what is written of the rows: the quasi-identifiers alone, in the order of their column."""
        return {name: place for name, place in super()._shown_places().items() if name in self.schema.quasi}

    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Return the table of sensitive values: how often each combination occurs in each bucket."""
        names = tuple(self.schema.sensitive)
        if len(names) == 1:
            found = self.histograms[names[0]]
            values = {names[0]: self.values(names[0]).gather(found.values)}
        else:
            found, values = self._combinations(names)
        count = next(name for name in COUNT_NAMES if name not in self.schema.tallied)
        return {"sensitive": pl.DataFrame({self.bucket_name: found.group_of, **values, count: found.counts})}

    def _combinations(self, names: tuple[str, ...]) -> tuple[Histogram, dict[str, pl.Series]]:
        """Count the combinations of several sensitive values in each bucket; return what each entry shows of them."""
        codes = self.shown.codes_of(names)
        number, one_of = group_tuples(codes, [self.shown.trees[name].size for name in names])
        buckets = self.buckets
        found = histogram(buckets.bucket_of, number.astype(np.int32)[buckets.tuples], buckets.counts, len(buckets))
        shown = codes[one_of[found.values]]
        return found, {name: self.values(name).gather(shown[:, place]) for place, name in enumerate(names)}

"""Counts and rows from buckets alone: what a reader of sliced or bucketized files can tell.

Within a bucket, which value of one column goes with which of another is not published: counts take columns as
independent there, and rows to learn from pair them by chance. Everything is in an order that depends on nothing but
what is shown, so that files and memory give the same. Cost: one pass over the rows for each condition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from incrowd.common.arrays import Counts, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.core.estimate import CountBounds
from incrowd.core.query import Query
from incrowd.core.reader import Reader
from incrowd.core.shown_weights import WeightedLines
from incrowd.errors import QueryError, did_you_mean
from incrowd.forms.column_readers import ColumnReader, column_of_labels, number_values
from incrowd.forms.count_errors import Asked, Part, chance_pairing
from incrowd.forms.reading.labels import number_labels
from incrowd.forms.slices.sliced_rows import SlicedRows

PAIRED_BY_CHANCE = (
    "Within a bucket, the columns that were permuted are paired by chance, or depend on each other a little. Rows that "
    "are withheld are not counted."
)


@dataclass(frozen=True, eq=False)
class SliceReader(Reader):
    """Buckets of rows: in column c, row r of bucket `bucket_of[r]` shows `shown[c][name][r]`, by number.

    The rows of each column are sorted within their bucket: that one row of a column stands beside one of another tells
    nothing.
    """

    columns: Mapping[str, ColumnReader]
    bucket_of: Ints
    sizes: Counts
    shown: tuple[Mapping[str, Ints], ...]
    names: tuple[str, ...]
    """The columns in the order in which they are written."""

    @classmethod
    def of(cls, form: SlicedRows, described: Mapping[str, Any] | None) -> SliceReader:
        """Read the buckets of a form, and labels of columns that are generalized as they are described."""
        told = {} if described is None else described["columns"]
        columns: dict[str, ColumnReader] = {}
        number_of: dict[str, Ints] = {}
        published = np.zeros(len(form.shown), dtype=bool)
        published[form.buckets.tuples] = True
        for name in form.schema.tallied:
            codes = form.shown.column(name)
            there = np.unique(codes[published])
            place = np.zeros(form.shown.trees[name].size, dtype=np.int64)
            if name in form.generalized and name in told:
                numbers, shown = number_labels(form.values(name).gather(there).cast(pl.String))
                columns[name] = column_of_labels(name, shown, told[name])
            else:
                numbers, columns[name] = number_values(name, form.values(name).gather(there))
            place[there] = numbers
            number_of[name] = place[codes]
        bucket_of = form.permuted.bucket_of
        parts = []
        for place_of, names in enumerate(form.columns):
            rows = {name: number_of[name][form.permuted.tuples[place_of]] for name in names}
            order = np.lexsort([*(rows[name] for name in sorted(rows)), bucket_of])
            parts.append({name: numbers[order] for name, numbers in rows.items()})
        return cls(columns, np.sort(bucket_of), form.group_sizes, tuple(parts), form.schema.tallied)

    @property
    def weighted(self) -> WeightedLines | None:
        """Buckets show no weights."""
        return None

    def count(self, query: Query, *, weighted: bool = True) -> float:
        """Estimate how many rows satisfy every condition: bucket by bucket, columns taken as independent."""
        return self.bounded(query).value

    def bounded(self, query: Query, *, weighted: bool = True) -> CountBounds:
        """Return the same with its error, and with bounds that hold however columns go together."""
        return chance_pairing(self.sizes, [self._part(names, query) for names in self._asked(query)])

    @property
    def assumes(self) -> str:
        """What errors rest on, in words."""
        return PAIRED_BY_CHANCE

    def _asked(self, query: Query) -> list[tuple[int, list[str]]]:
        """Return the columns that a question is about, and what it asks of each.

        An attribute that is in several columns is asked for where most of the others are.
        """
        for name in query:
            if name not in self.columns:
                raise QueryError(f"'{name}' is not a column of the release.{did_you_mean(name, self.columns)}")
        left, found = dict.fromkeys(query), []
        places = sorted(range(len(self.shown)), key=lambda place: -len(left.keys() & set(self.shown[place])))
        for place in places:
            names = [name for name in self.shown[place] if name in left]
            for name in names:
                del left[name]
            if names:
                found.append((place, names))
        return found

    def _part(self, asked: tuple[int, list[str]], query: Query) -> Part:
        place, names = asked
        share = np.ones(len(self.bucket_of))
        sure = possible = np.ones(len(self.bucket_of), dtype=bool)
        squared = np.zeros(len(self.bucket_of))
        for name in names:
            column, shown = self.columns[name], self.shown[place][name]
            shares, (must, may) = column.shares(query[name]), column.certain(query[name])
            spread = Asked(shares, shares, must, may, column.room, column.ordered).spread
            share, sure, possible = share * shares[shown], sure & must[shown], possible & may[shown]
            squared = squared + spread[shown] ** 2
        return Part(*(self._sums(amounts) for amounts in (share, sure, possible, np.sqrt(squared))))

    def _sums(self, amounts: Floats | np.ndarray) -> Floats:
        return np.bincount(self.bucket_of, weights=amounts, minlength=len(self.sizes)).astype(np.float64)

    def rows(self, rng: np.random.Generator) -> pl.DataFrame:
        """Return one row for each published one: a bucket's columns are paired by chance."""
        found: dict[str, pl.Series] = {}
        for part in self.shown:
            order = np.lexsort([rng.random(len(self.bucket_of)), self.bucket_of])
            for name, numbers in part.items():
                if name not in found:
                    found[name] = self.columns[name].draw(numbers[order], rng)
        return pl.DataFrame([found[name] for name in self.names])

    def row_weights(self) -> Floats | None:
        """Return none: buckets show no weights."""
        return None

"""Buckets some of whose rows are nobody's: counterfeits, which keep the values of a bucket the same over releases.

A counterfeit shows the quasi-identifiers of somebody of its bucket, chosen by chance, and a value that the bucket would
lack. How many a bucket has is published (`counterfeits`), and not which of its values they are (Xiao & Tao 2007).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import ClassVar

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes, Counts, Ints
from incrowd.common.randomness import permutation
from incrowd.common.records import dataclass
from incrowd.core.form import Form, PublishedFiles
from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.core.tally import Tally
from incrowd.errors import SchemaError
from incrowd.forms.bucketized import BucketizedTable
from incrowd.forms.reading.slices import COUNT_NAMES, bucket_column, read_slices, written_rows
from incrowd.sources.reading import read_rows

TABLE = "counterfeits"


@dataclass(frozen=True, eq=False)
class CounterfeitBuckets(BucketizedTable):
    """Anatomy's two tables, and a third one: how many rows of a bucket are nobody's, where there are any."""

    made_up: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The bucket of each row that is nobody's."""
    made_up_codes: Codes = field(default_factory=lambda: np.empty(0, dtype=np.int32), repr=False)
    """The sensitive value of each, which files do not tell."""
    name: ClassVar[str] = "bucketized-with-counterfeits"
    other_tables: ClassVar[tuple[str, ...]] = ("sensitive", TABLE)

    @property
    def counterfeits(self) -> int:
        """How many published rows are nobody's."""
        return len(self.made_up)

    @property
    def withheld(self) -> int:
        """People who are not published."""
        return self.rows_in - (self.rows - self.counterfeits)

    @property
    def made_up_in_buckets(self) -> Counts:
        """How many rows of each bucket are nobody's."""
        return np.bincount(self.made_up, minlength=len(self.group_sizes)).astype(np.int64)

    def made_up_values(self) -> Mapping[str, tuple[Ints, Codes]]:
        """Return the buckets and values of counterfeits, where they are known."""
        (column,) = self.schema.sensitive
        return {column: (self.made_up, self.made_up_codes)} if len(self.made_up_codes) else {}

    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Return the table of sensitive values, and that of counterfeits."""
        number = self.made_up_in_buckets
        buckets = np.flatnonzero(number)
        return {
            **super().tables(),
            TABLE: pl.DataFrame({self.bucket_name: buckets, self._count_name: number[buckets]}),
        }

    @property
    def _count_name(self) -> str:
        return next(name for name in COUNT_NAMES if name not in self.schema.tallied)

    def warnings(self) -> list[str]:
        """Return what a careful reader should know before signing."""
        if not self.counterfeits:
            return super().warnings()
        said = f"{self.counterfeits:,} of {self.rows:,} published rows are nobody's (counterfeits)."
        return [*super().warnings(), said]

    @classmethod
    def recognizes(cls, files: PublishedFiles) -> bool:
        """Whether a third table tells of counterfeits."""
        return bucket_column(files) is not None and TABLE in files.others

    @classmethod
    def read_back(cls, files: PublishedFiles) -> tuple[Form, list[str]]:
        """Read the tables; the third one says how many rows of a bucket are nobody's."""
        form = read_slices(cls, files, cls._written_rows(files))
        if TABLE not in files.others:
            raise SchemaError("there is no table of counterfeits, which a release of this form has.")
        told = read_rows(files.others[TABLE])
        bucket, count = bucket_column(files), form._count_name
        if bucket not in told.columns or count not in told.columns:
            raise SchemaError("the table of counterfeits has no column of buckets, or none of counts.")
        # Buckets are numbered anew when they are read, in the order of their numbers.
        numbers = np.unique(written_rows(files)[bucket].cast(pl.Int64).to_numpy())
        asked = told[bucket].cast(pl.Int64).to_numpy()
        place = np.minimum(np.searchsorted(numbers, asked), max(len(numbers) - 1, 0))
        counts = told[count].cast(pl.Int64).to_numpy()
        if len(asked) and ((numbers[place] != asked).any() or (counts < 0).any()):
            raise SchemaError("the table of counterfeits tells of a bucket that there is not.")
        found = replace(form, made_up=np.repeat(place, counts))
        if (found.made_up_in_buckets >= found.group_sizes).any():
            raise SchemaError("the table of counterfeits leaves a bucket without anybody.")
        return (replace(found, rows_in=found.rows - found.counterfeits) if files.known is None else found), []


def with_counterfeits(tally: Tally, recoding: Recoding, rng: np.random.Generator) -> tuple[Tally, Recoding]:
    """Return a tally and a recoding that hold the rows which a method made up, too, behind all others.

    Each looks like somebody of its group who is chosen by chance: an order would tell who has which value.
    """
    made_up = recoding.made_up
    if made_up is None or not len(made_up.groups):
        return tally, recoding
    published = np.flatnonzero(recoding.groups != WITHHELD)
    shuffled = published[permutation(rng, len(published))]
    groups, first = np.unique(recoding.groups[shuffled], return_index=True)
    alike = recoding.tuples[shuffled[first[np.searchsorted(groups, made_up.groups)]]]
    codes = tally.codes[alike].copy()
    codes[:, tally.columns.index(made_up.column)] = made_up.codes
    ones = np.ones(len(alike), dtype=np.int64)
    more = replace(
        tally,
        codes=np.ascontiguousarray(np.concatenate([tally.codes, codes])),
        counts=np.concatenate([tally.counts, ones]),
    )
    return more, replace(
        recoding,
        tuples=np.concatenate([recoding.tuples, len(tally) + np.arange(len(alike))]),
        counts=np.concatenate([recoding.counts, ones]),
        groups=np.concatenate([recoding.groups, made_up.groups]),
    )

"""A release in sliced form: values are exact, and within a bucket each column of attributes is in an order of its own.

Whoever is in a bucket could have any of its values in each column, so what a bucket says of a combination is the
product over columns of how often its part occurs there. Bucketization is the case of two columns, with the sensitive
attribute alone in one (Li, Li, Zhang & Molloy 2012).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.errors import ConformanceError, QueryError, SchemaError, did_you_mean
from incrowd.groups import Groups, Histogram, LazyHistograms, histogram
from incrowd.models.model import Guarantee, Model
from incrowd.releases.query import Query, matching_codes
from incrowd.schema import Schema
from incrowd.slicing.membership import Fakes, count_fakes
from incrowd.slicing.permutation import Permuted
from incrowd.slicing.sliced import Buckets, Slices, slice_tally
from incrowd.tally import Counts, Tally

Columns = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class SlicedTable:
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
    name: ClassVar[str] = "sliced"

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

    @property
    def bucket_name(self) -> str:
        """What the column of bucket numbers is called."""
        taken = set(self.schema.tallied)
        return next(name for name in ("bucket", "bucket number", "_bucket") if name not in taken)

    def groups(self) -> Groups:
        """Return buckets as models of groups see them: who is in one, and what sensitive values there are."""
        whole = {name: self.shown.value_counts(name) for name in self.histograms}
        return Groups(self.group_sizes, self.histograms, whole, self.shown.trees)

    @cached_property
    def histograms(self) -> LazyHistograms:
        """How often each sensitive value occurs in each bucket."""
        buckets, number = self.buckets, len(self.buckets)

        def count(name: str) -> Histogram:
            codes = np.ascontiguousarray(self.shown.column(name))[buckets.tuples]
            return histogram(buckets.bucket_of, codes, buckets.counts, number)

        return LazyHistograms(tuple(sorted(self.schema.sensitive)), count)

    def verify(self, require: Sequence[Model], before: Tally) -> list[Guarantee]:
        """Check every model on the buckets; return the guarantees, or refuse the release."""
        found = []
        for model in require:
            if hasattr(model, "guarantee_of_slices"):
                found.append(model.guarantee_of_slices(self.slices, self.buckets))
                continue
            if getattr(model, "looks_at_values", True) and not self._secrets_are_alone:
                raise SchemaError(
                    f"{model} speaks of groups in which all quasi-identifiers are known, and here some are published "
                    "together with a sensitive column.  Hint: ask for SlicedDiversity."
                )
            if getattr(model, "needs_table", False) or getattr(model, "covers_all_columns", False):
                raise SchemaError(f"{model} speaks of labels or whole rows, and a sliced table has neither.")
            groups = self.groups()
            if not model.satisfied(groups).all():
                raise ConformanceError(f"the buckets do not satisfy {model}; nothing was published.")
            found.append(Guarantee(model, "verified", model.achieved(groups)))
        return found

    @property
    def _secrets_are_alone(self) -> bool:
        secret = set(self.schema.sensitive)
        return all(secret.isdisjoint(column) or secret.issuperset(column) for column in self.columns)

    def count(self, query: Query) -> float:
        """Estimate how many rows satisfy every condition: bucket by bucket, columns taken as independent."""
        sizes = self.group_sizes.astype(np.float64)
        estimate = sizes.copy()
        asked = dict(query)
        # An attribute that is in several columns is asked for where most of the others are.
        for column in sorted(self.columns, key=lambda column: -len(asked.keys() & set(column))):
            fits: NDArray[np.float64] | None = None
            for name in [name for name in column if name in asked]:
                share = self.matching_shares(name, matching_codes(name, self.tally.trees[name], asked.pop(name)))
                share = share[self.shown.column(name)]
                fits = share if fits is None else fits * share
            if fits is not None:
                rows = fits[self.buckets.tuples] * self.buckets.counts
                estimate *= np.bincount(self.buckets.bucket_of, rows, minlength=len(sizes)) / np.maximum(sizes, 1)
        if asked:
            name = next(iter(asked))
            raise QueryError(f"'{name}' is not a column of the release.{did_you_mean(name, self.schema.tallied)}")
        return float(estimate.sum())

    def matching_shares(self, name: str, matches: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return how much of what each code of a column is shown as satisfies a condition, values taken as even.

        `matches` has an entry for each of the column's own codes in its last axis, and so has what is returned.
        """
        tree, level = self.tally.trees[name], self.levels.get(name, 0)
        if not level:
            return matches.astype(np.float64)
        before = np.zeros((*matches.shape[:-1], matches.shape[-1] + 1), dtype=np.int64)
        np.cumsum(matches, axis=-1, out=before[..., 1:])
        starts, ends = tree.starts[level], tree.ends[level]
        return np.asarray((before[..., ends] - before[..., starts]) / (ends - starts))

    def values(self, name: str) -> pl.Series:
        """Return what each code of a column is shown as."""
        tree, level = self.tally.trees[name], self.levels.get(name, 0)
        return tree.values if not level else tree.names[level].gather(tree.nodes[level])

    def batches(self, rows_per_batch: int) -> Iterator[pl.DataFrame]:
        """Yield the rows bucket by bucket; in each bucket every column is in an order of its own."""
        places = self._shown_places()
        values = {name: self.values(name) for name, _ in places.values()}
        codes = {name: np.ascontiguousarray(self.shown.column(name)) for name in values}
        for first in range(0, max(self.rows, 1), rows_per_batch):
            rows = slice(first, min(first + rows_per_batch, self.rows))
            shown = {
                written: values[name].gather(codes[name][self.permuted.tuples[place, rows]])
                for written, (name, place) in places.items()
            }
            yield pl.DataFrame({self.bucket_name: self.permuted.bucket_of[rows], **shown})

    def _shown_places(self) -> dict[str, tuple[str, int]]:
        """Return what is written in which order: the attribute's name, and which column of attributes it is from."""
        first = {name: place for place, column in reversed(list(enumerate(self.columns))) for name in column}
        found = {name: (name, first[name]) for name in self.schema.tallied}
        for place, column in enumerate(self.columns):
            found |= {f"{name} (column {place + 1})": (name, place) for name in column if first[name] != place}
        return found

    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Return what is published besides the rows: nothing."""
        return {}

    def losses(self) -> dict[str, Any]:
        """Return the sizes of buckets and how many tuples they match that are in no row."""
        found: dict[str, Any] = {
            "columns": [list(column) for column in self.columns],
            "average group size": self.rows / max(len(self.group_sizes), 1),
        }
        return found if self._shows_people else {**found, "fake-original ratio": self.fakes.ratio}

    @property
    def _shows_people(self) -> bool:
        """Whether all that may be known of a person is in one column, as it is."""
        return any(set(self.schema.quasi) <= set(column) for column in self.columns)

    @cached_property
    def fakes(self) -> Fakes:
        """How many tuples the buckets match, and how many of these are people's own."""
        return count_fakes(self.slices, self.buckets)

    def warnings(self) -> list[str]:
        """Return what a careful reader should know before signing."""
        if self._shows_people:
            return ["Quasi-identifiers are published together and as they are: the release tells who is in the table."]
        bare = int(self.group_sizes[self.fakes.ratio_by_bucket == 0].sum())
        if not bare:
            return []
        return [
            f"{bare:,} rows are in buckets that match nobody but the people in them: permuting columns hides nothing "
            "there, neither who is in the table nor which values go together."
        ]

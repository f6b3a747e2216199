"""A release in sliced form: values are exact, and within a bucket each column of attributes is in an order of its own.

Whoever is in a bucket could have any of its values in each column, so what a bucket says of a combination is the
product over columns of how often its part occurs there. Bucketization is the case of two columns, with the sensitive
attribute alone in one (Li, Li, Zhang & Molloy 2012).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.common.arrays import Bools, Codes, Counts, Floats, Ints
from incrowd.common.randomness import permutation
from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.core.form import Form, PublishedFiles
from incrowd.core.groups import Groups, Histogram, LazyHistograms, histogram
from incrowd.core.model import Guarantee, Model
from incrowd.core.people import PlacedPeople
from incrowd.core.query import Condition, Query, matching_codes
from incrowd.core.recoding import WITHHELD, Recoding, Showing
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally, group_tuples
from incrowd.errors import ConformanceError, QueryError, RecipeError, SchemaError, Unsatisfiable, did_you_mean
from incrowd.forms.held_out import first_of_each, taken_rows
from incrowd.forms.reading.slices import bucket_column, read_slices, written_rows
from incrowd.forms.slice_reader import SliceReader
from incrowd.forms.sliced_view import SlicedView
from incrowd.forms.slices.fake_tuples import Fakes, count_fakes
from incrowd.forms.slices.permutation import Permuted, permute_columns
from incrowd.forms.slices.sliced_rows import Columns, SlicedRows
from incrowd.forms.slices.slices import Buckets, ignoring_missing
from incrowd.forms.slices.verify_matches import verify_matches
from incrowd.hierarchies.tree import Tree
from incrowd.kernels.slicing_counts import count_in_buckets

Sliced = TypeVar("Sliced", bound="SlicedTable")


@dataclass(frozen=True)
class ShowSlices(Showing):
    """Show groups as buckets, in which the rows of each column are permuted.

    Parameters
    ----------
    columns : lists of attributes that stay together; all others are columns of their own (default: none).
    levels : the level of its hierarchy at which an attribute is shown (default: 0, its values).
    overlapping : True lets an attribute be in several columns (default: False). It then tells more about each of them,
        and is published once in every one.
    """

    columns: Columns = ()
    levels: Mapping[str, int] = field(default_factory=dict, hash=False)
    overlapping: bool = False
    name: ClassVar[str] = "sliced"
    one_row_each: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if any(isinstance(column, str) for column in self.columns):
            raise RecipeError("sliced: columns is a list of lists of attributes.")
        object.__setattr__(self, "columns", tuple(tuple(column) for column in self.columns))

    def columns_in_parts(self, schema: Schema) -> tuple[str, ...] | None:
        """Return all attributes, as long as they are shown as they are and once."""
        return None if self.overlapping or any(self.levels.values()) else tuple(schema.tallied)

    def show(
        self, tally: Tally, schema: Schema, recoding: Recoding, *, rows_in: int, rng: np.random.Generator
    ) -> SlicedTable:
        """Permute every column within groups."""
        columns = all_columns(self.columns, schema, overlapping=self.overlapping)
        return sliced(SlicedTable, tally, schema, recoding, columns, rows_in=rows_in, rng=rng, levels=self.levels)


@dataclass(frozen=True, eq=False)
class SlicedTable(SlicedRows, Form):
    """A sliced table that is published: see `SlicedRows` for what it is made of."""

    name: ClassVar[str] = "sliced"

    @property
    def bucket_name(self) -> str:
        """What the column of bucket numbers is called."""
        taken = set(self.schema.tallied)
        return next(name for name in ("bucket", "bucket number", "_bucket") if name not in taken)

    def groups(self, before: Tally | None) -> Groups:
        """Return buckets as models of groups see them: who is in one, and what sensitive values there are."""
        compared = self.shown if before is None else at_levels(before, self.levels)
        whole = {name: compared.table_counts(name) for name in self.histograms}
        return Groups(self.group_sizes, self.histograms, whole, self.shown.trees)

    def rows_alike(self) -> Counts:
        """Return how many rows show each combination of quasi-identifiers, as they are written."""
        # An attribute that is in several columns is written several times.
        written = [(name, place) for name, place in self._shown_places().values() if name in self.schema.quasi]
        codes = np.stack([self.shown.column(name)[self.permuted.tuples[place]] for name, place in written], axis=1)
        shown, _ = group_tuples(codes, [self.shown.trees[name].size for name, _ in written])
        return np.bincount(shown).astype(np.int64)

    @cached_property
    def histograms(self) -> LazyHistograms:
        """How often each sensitive value occurs in each bucket."""
        buckets, number = self.buckets, len(self.buckets)

        def count(name: str) -> Histogram:
            codes = np.ascontiguousarray(self.shown.column(name))[buckets.tuples]
            return histogram(buckets.bucket_of, codes, buckets.counts, number)

        return LazyHistograms(tuple(sorted(self.schema.sensitive)), count)

    def verify(
        self, require: Sequence[Model], before: Tally | None, people: PlacedPeople | None = None
    ) -> list[Guarantee]:
        """Check every model on the buckets; return the guarantees, or refuse the release."""
        if people is not None and len(people.people) < people.people.rows.rows:
            # How many rows somebody has can be read off the quasi-identifiers.
            raise SchemaError(f"{self.name} is for tables in which everybody has one row.")
        return [self._verified(model, before) for model in require]

    def _verified(self, model: Model, before: Tally | None) -> Guarantee:
        if model.over_matches:
            return self._verified_over_matches(model)
        if model.looks_at_values and not self._secrets_are_alone:
            raise SchemaError(
                f"{model} speaks of groups in which all quasi-identifiers are known, and here some are published "
                "together with a sensitive column.  Hint: ask for SlicedDiversity."
            )
        if model.needs_table or model.covers_all_columns:
            raise SchemaError(f"{model} speaks of labels or whole rows, and a sliced table has neither.")
        if not model.holds_in_buckets:
            return self._verified_as_written(model)
        groups = self.groups(before)
        if not model.satisfied(groups).all():
            raise ConformanceError(f"the buckets do not satisfy {model}; nothing was published.")
        note = "; ".join(part for part in ("in each bucket", model.told(groups)) if part)
        return Guarantee(model, "verified", model.achieved(groups), note=note)

    def _verified_as_written(self, model: Model) -> Guarantee:
        """Check a model of people who show the same on the rows as they are written, whoever shares a bucket."""
        hint = "Hint: ask for BucketSize, which speaks of buckets, or publish generalized values."
        if model.looks_at_values:
            raise SchemaError(
                f"{model} speaks of people who show the same quasi-identifiers, and here these are published as they "
                f"are.  {hint}"
            )
        groups = Groups(self.rows_alike())
        try:
            satisfied = model.satisfied(groups).all()
        except SchemaError as error:
            raise SchemaError(
                f"{model} speaks of labels, and here values are published as they are.  {hint}"
            ) from error
        if not satisfied:
            raise Unsatisfiable(
                f"{model} does not hold of the rows as they are written: quasi-identifiers are published as they are, "
                f"and {int(np.count_nonzero(groups.sizes == 1)):,} of {self.rows:,} rows show a combination that no "
                f"other row shows.  {hint}"
            )
        return Guarantee(model, "verified", model.achieved(groups), note="of the rows as they are written")

    def _verified_over_matches(self, model: Model) -> Guarantee:
        """Check a bound on guesses over all buckets that a person could be in."""
        if not self.slices.secrets:
            raise SchemaError(f"{model} needs a sensitive column, and there is none.  Hint: name one as sensitive.")
        slices = ignoring_missing(self.slices) if model.missing == "ignored" else self.slices
        found = verify_matches(slices, self.permuted, Fraction(str(model.diversity)))
        if not found.holds:
            raise ConformanceError(f"the sliced table does not satisfy {model}; nothing was published.")
        return Guarantee(
            model,
            "verified",
            1 / found.worst if found.worst else float("inf"),
            note="over all buckets that a person could be in",
        )

    @property
    def _secrets_are_alone(self) -> bool:
        secret = set(self.schema.sensitive)
        return all(secret.isdisjoint(column) or secret.issuperset(column) for column in self.columns)

    def placed(self, people: PlacedPeople) -> Ints | None:
        """Return the bucket of each person."""
        if self.bucket_of_group is None:
            return None
        return np.asarray(np.append(self.bucket_of_group, WITHHELD)[people.group_of])

    def shown_labels(self) -> Mapping[str, tuple[Tree, pl.Series]]:
        """Return what columns show that are generalized."""
        names = self.generalized
        codes = {name: np.unique(self.shown.column(name)[self.buckets.tuples]) for name in names}
        return {name: (self.tally.trees[name], self.values(name).gather(codes[name])) for name in names}

    def reader(self, meanings: Mapping[str, Any] | None) -> SliceReader:
        """Return who reads its buckets."""
        return SliceReader.of(self, meanings)

    def count(self, query: Query) -> float:
        """Estimate how many rows satisfy every condition: bucket by bucket, columns taken as independent."""
        asked, wanted = dict(query), list[list[tuple[int, Floats]]]()
        # An attribute that is in several columns is asked for where most of the others are.
        for column in sorted(self.columns, key=lambda column: -len(asked.keys() & set(column))):
            shares = [
                (self.shown.columns.index(name), self.matching_shares(name, self._matching(name, asked.pop(name))))
                for name in column
                if name in asked
            ]
            if shares:
                wanted.append(shares)
        if asked:
            name = next(iter(asked))
            raise QueryError(f"'{name}' is not a column of the release.{did_you_mean(name, self.schema.tallied)}")
        return count_in_buckets(
            self._codes_of_parts, self.buckets.counts, self.buckets.bucket_of, self.group_sizes, wanted
        )

    def _matching(self, name: str, condition: Condition) -> Bools:
        return matching_codes(name, self.tally.trees[name], condition)

    @cached_property
    def _codes_of_parts(self) -> Codes:
        """What is shown of each part of the buckets, one attribute after the other: that is how it is looked at."""
        codes = np.empty((len(self.shown.columns), len(self.buckets.tuples)), dtype=np.int32)
        for place, name in enumerate(self.shown.columns):
            codes[place] = self.shown.column(name)[self.buckets.tuples]
        return codes

    def matching_shares(self, name: str, matches: Bools) -> Floats:
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

    def view(self) -> SlicedView:
        """Return the buckets that have a person's value in each column."""
        return SlicedView(self)

    def reconstruct(self, rng: np.random.Generator) -> tuple[dict[str, Codes], Floats]:
        """Return rows in which the columns of a bucket are paired by chance, whatever order they are written in."""
        found: dict[str, Codes] = {}
        bucket_of = self.permuted.bucket_of
        for place, names in enumerate(self.columns):
            tuples = self.permuted.tuples[place][self.order_by_chance(place, rng)]
            found |= {name: self.shown.column(name)[tuples] for name in names if name not in found}
        for name, level in self.levels.items():
            tree = self.tally.trees[name]
            found[name] = rng.integers(tree.starts[level, found[name]], tree.ends[level, found[name]]).astype(np.int32)
        return found, np.ones(len(bucket_of))

    def order_by_chance(self, place: int, rng: np.random.Generator) -> Ints:
        """Return a column's rows in an order by chance within their buckets, however they are written."""
        bucket_of, tuples = self.permuted.bucket_of, self.permuted.tuples[place]
        codes: list[NDArray[Any]] = [self.shown.column(name)[tuples] for name in sorted(self.columns[place])]
        order = np.lexsort([*codes, bucket_of])
        return np.asarray(order[np.lexsort([rng.random(len(order)), bucket_of[order]])])

    def without(self, people: Tally) -> Self:
        """Take people's part out of every column of a bucket that has them all; the likeliest bucket first."""
        view = self.view()
        held = view.match(people.codes_of(view.columns), None)
        person_of, buckets = held.person_of, held.crowds
        shown = at_levels(people, self.levels)
        places, left, keys = [], [], []
        for place, names in enumerate(self.columns):
            sizes = [len(self.group_sizes), *(self.shown.trees[name].size for name in names)]
            ours = self._with_buckets(self.shown, names, self.permuted.tuples[place], self.permuted.bucket_of)
            theirs = self._with_buckets(shown, names, person_of, buckets)
            numbers, first = group_tuples(np.concatenate([ours, theirs]), sizes)
            keys.append(numbers[: len(ours)])
            left.append(np.bincount(keys[-1], minlength=len(first)).astype(np.int64))
            places.append(numbers[len(ours) :])
        taken = taken_rows(people.counts, person_of, tuple(places), -held.weights, tuple(left))
        kept = [~first_of_each(key, gone) for key, gone in zip(keys, taken, strict=True)]
        tuples = np.stack([self.permuted.tuples[place][rows] for place, rows in enumerate(kept)])
        bucket_of = self.permuted.bucket_of[kept[0]]
        buckets_left = Buckets(tuples[0], np.ones(len(bucket_of), dtype=np.int64), bucket_of)
        return replace(self, buckets=buckets_left, permuted=Permuted(bucket_of, tuples))

    @staticmethod
    def _with_buckets(tally: Tally, names: Sequence[str], tuples: Ints, buckets: Ints) -> Codes:
        return np.stack([buckets, *(tally.column(name)[tuples] for name in names)], axis=1).astype(np.int32)

    @classmethod
    def recognizes(cls, files: PublishedFiles) -> bool:
        """Whether a column numbers buckets."""
        return bucket_column(files) is not None and "sensitive" not in files.others

    @classmethod
    def read_back(cls, files: PublishedFiles) -> tuple[Form, list[str]]:
        """Read rows as they are written, bucket by bucket."""
        return read_slices(cls, files, cls._written_rows(files)), []

    @classmethod
    def _written_rows(cls, files: PublishedFiles) -> pl.DataFrame:
        return written_rows(files)

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


def as_sliced(form: Form) -> SlicedTable | None:
    """Return a form as a sliced table, bucketized ones included, if it is one."""
    return form if isinstance(form, SlicedTable) else None


def all_columns(columns: Sequence[Sequence[str]], schema: Schema, *, overlapping: bool = False) -> Columns:
    """Return columns of attributes, completed by those that are not mentioned."""
    seen: set[str] = set()
    for name in (name for column in columns for name in column):
        if name not in schema.tallied:
            raise SchemaError(f"sliced: '{name}' is no attribute.{did_you_mean(name, schema.tallied)}")
        if name in seen and not overlapping:
            raise SchemaError(
                f"sliced: '{name}' is in two columns.  Hint: say {option('overlapping', True)} if that is meant."
            )
        seen.add(name)
    for column in columns:
        if len(set(column)) < len(column):
            raise SchemaError("sliced: a column names an attribute twice.")
    return (*(tuple(column) for column in columns if column), *((name,) for name in schema.tallied if name not in seen))


def sliced(
    kind: type[Sliced],
    tally: Tally,
    schema: Schema,
    recoding: Recoding,
    columns: Columns,
    *,
    rows_in: int,
    rng: np.random.Generator,
    levels: Mapping[str, int] | None = None,
) -> Sliced:
    """Make a sliced table of a kind; buckets get numbers by chance, so that these tell nothing."""
    for name in schema.found_again:
        raise SchemaError(
            f"column '{name}' is kept as it is and would link what slicing takes apart.  "
            "Hint: drop it, or make it a quasi-identifier or sensitive."
        )
    published = recoding.groups != WITHHELD
    groups = recoding.groups[published]
    is_bucket = np.zeros(int(groups.max(initial=-1)) + 1, dtype=bool)
    is_bucket[groups] = True
    numbers = np.zeros(len(is_bucket), dtype=np.int64)
    numbers[is_bucket] = permutation(rng, int(is_bucket.sum()))
    buckets = Buckets(recoding.tuples[published], recoding.counts[published], numbers[groups])
    levels = dict(levels or {})
    return kind(
        schema=schema,
        tally=tally,
        shown=at_levels(tally, levels),
        levels=levels,
        columns=columns,
        buckets=buckets,
        permuted=permute_columns(rng, buckets, len(columns)),
        rows_in=rows_in,
        bucket_of_group=numbers,
    )


def at_levels(tally: Tally, levels: Mapping[str, int]) -> Tally:
    """Return a tally whose codes are those of the first value of each node that is shown."""
    codes = tally.codes
    for name, level in levels.items():
        if name not in tally.columns:
            raise SchemaError(f"sliced: '{name}' is no attribute.{did_you_mean(name, tally.columns)}")
        tree, place = tally.trees[name], tally.columns.index(name)
        if not 0 <= level <= tree.height:
            raise SchemaError(f"column '{name}': levels go from 0 to {tree.height}; {level} was asked for.")
        codes = codes.copy()
        codes[:, place] = tree.starts[level, codes[:, place]]
    everybody = None if tally.drawn_from is None else at_levels(tally.drawn_from, levels)
    return replace(tally, codes=codes, drawn_from=everybody)

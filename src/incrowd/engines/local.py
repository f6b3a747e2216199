"""The engine for one machine: Polars reads, counts and applies; rows are streamed wherever they can be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl
import polars.selectors as cs

from incrowd.common.arrays import Bools, Counts, Ints
from incrowd.common.records import dataclass
from incrowd.core.dated import KeyedPeople, keyed_people, reaches, treated
from incrowd.core.engine import Counted, Engine, LinkedRows, LinkedTask, OwnedTuples, PublishedRows
from incrowd.core.form import Form
from incrowd.core.labelled import Labelled
from incrowd.core.people import names_as_read
from incrowd.core.pseudonyms import PseudonymKey
from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.core.schema import Schema
from incrowd.core.source import OpenedTable, ReadOptions
from incrowd.dates.column import require_dates
from incrowd.dates.treatment import DateTreatment, Whose
from incrowd.engines.dealing import dealt, groups_of_rows
from incrowd.errors import SourceError
from incrowd.sources import open_table, reading

ROWS_PER_BATCH = 1_000_000
ROWS_PER_SCAN = 8_000_000
"""With kept columns, at most about this many rows are in memory at once; a larger table is scanned once for each."""

_FEW_ROWS = 10_000
"""So few rows are counted before Polars has set out to stream them."""

_COUNT = "n"


@dataclass(frozen=True, eq=False)
class CountedRows(PublishedRows):
    """Published rows of which a form's counts hold everything."""

    form: Form

    def batches(self) -> Iterator[pl.DataFrame]:
        """Make them from the counts; the table is not read again."""
        return self.form.batches(ROWS_PER_BATCH)

    def runs(self) -> Iterator[pl.DataFrame] | None:
        """Make the same from the counts, equal rows once; not where a form has another way to make rows one by one."""
        own = {
            name: next(kind for kind in type(self.form).__mro__ if name in vars(kind)) for name in ("runs", "batches")
        }
        return self.form.runs(ROWS_PER_BATCH) if issubclass(own["runs"], own["batches"]) else None


@dataclass(frozen=True, eq=False)
class HeldRows(PublishedRows):
    """Published rows that are in memory."""

    rows: pl.DataFrame

    def batches(self) -> Iterator[pl.DataFrame]:
        """Yield all of them."""
        yield self.rows


@dataclass(frozen=True, eq=False)
class LocalEngine(Engine):
    """Rows in a file, a database's answer or a frame, on this machine."""

    source: OpenedTable
    name: ClassVar[str] = "local"
    fallback: ClassVar[bool] = True
    changes_values: ClassVar[bool] = True
    carries_weights: ClassVar[bool] = True
    treats_dates: ClassVar[bool] = True
    reads_sets: ClassVar[bool] = True
    links_tables: ClassVar[bool] = True

    @classmethod
    def takes(cls, given: object) -> bool:
        """Take whatever a kind of source may open."""
        return True

    @classmethod
    def open(cls, given: Any, options: ReadOptions) -> LocalEngine:
        """Open a source."""
        return cls(open_table(given, options))

    def as_stated(self) -> LocalEngine:
        """Read the file again, by what was stated alone."""
        return self if self.source.stated is None else replace(self, source=self.source.stated())

    def distinct(self, columns: Sequence[str]) -> tuple[pl.DataFrame, Counts]:
        """Count distinct tuples: one group-by, streamed, unless the source can do better."""
        counted = self._counted_faster(columns)
        if counted is not None:
            return counted[0].with_columns(cs.enum().cast(pl.String)), counted[1]
        numbers = _numbers(list(columns))
        few = self.source.most_rows is not None and self.source.most_rows <= _FEW_ROWS
        with reading(self.source):
            found = (
                self.source.frame.select(_numbered(list(columns)))
                .group_by(numbers)
                .agg(pl.len().cast(pl.Int64).alias(_COUNT))
                .collect(engine="in-memory" if few else "streaming")
            )
        raw = pl.DataFrame({name: found[number] for name, number in zip(columns, numbers, strict=True)})
        return raw, found[_COUNT].to_numpy()

    def _counted_faster(self, columns: Sequence[str], *, each_once: bool = True) -> tuple[pl.DataFrame, Counts] | None:
        counter = self.source.counter
        if counter is None or not columns:
            return None
        with reading(self.source):
            return counter.distinct(columns, each_once=each_once)

    def owned(self, schema: Schema, *, found_again: bool) -> OwnedTuples:
        """List the owners of each tuple in the pass that counts it: far fewer tuples are told apart in this way."""
        if schema.items:
            return self._owned_sets(schema)
        if not (found_again or schema.owned_by):
            counted = self._counted_faster(schema.found_again_by, each_once=False)
            if counted is not None:  # nobody will look for these texts again, and equal ones are brought together
                raw, counts = counted
                return OwnedTuples(raw, counts, raw, np.arange(raw.height), counts)
        if found_again or not schema.owned_by:
            return super().owned(schema, found_again=found_again)
        tallied, person = list(schema.tallied), list(schema.owned_by)
        keys, names = _numbers(tallied), [f"p{place}" for place in range(len(person))]
        whose = [cs.by_name(name).as_expr().alias(ours) for name, ours in zip(person, names, strict=True)]
        with reading(self.source):
            found = (
                self.source.frame.select(*_numbered(tallied), *whose)
                .group_by(keys)
                .agg(*names)
                .collect(engine="streaming")
            )
        counts = found[names[0]].list.len().cast(pl.Int64).to_numpy()
        raw = found.select(keys).rename(dict(zip(keys, tallied, strict=True)))
        owners = pl.DataFrame({name: found[ours].explode() for name, ours in zip(person, names, strict=True)})
        places = np.repeat(np.arange(len(counts)), counts)
        return OwnedTuples(raw, counts, owners, places, np.ones(len(places), dtype=np.int64))

    def changing(self, columns: Sequence[str], person: Sequence[str]) -> tuple[str, ...]:
        """Return the columns that are not the same in all rows of a person."""
        ours, keys = _numbers(list(columns)), [f"p{place}" for place in range(len(person))]
        if not columns:
            return ()
        whose = [cs.by_name(name).as_expr().alias(key) for name, key in zip(person, keys, strict=True)]
        with reading(self.source):
            most = (
                self.source.frame.select(*_numbered(list(columns)), *whose)
                .group_by(keys)
                .agg(pl.col(name).n_unique() for name in ours)
                .select(pl.col(name).max() for name in ours)
                .collect(engine="streaming")
            )
        return tuple(name for name, number in zip(columns, most.row(0), strict=True) if (number or 0) > 1)

    def only(self, columns: Sequence[str], *, distinct: bool) -> LocalEngine:
        """Return some of the columns, with equal rows once where only distinct ones are wanted."""
        frame = self.source.frame.select(cs.by_name(*columns))
        return LocalEngine(replace(self.source, frame=frame.unique() if distinct else frame, columns=tuple(columns)))

    def linked_rows(self, task: LinkedTask) -> LinkedRows:
        """Read the table of events once more, and give each row its person's keys."""
        looked_at = {other for treatment in task.schema.dates.values() for other in treatment.looks_at}
        needed = (*task.person, *task.written, *sorted(looked_at - set(task.written)))
        with reading(self.source):
            rows = self.source.frame.select(cs.by_name(*needed)).collect(engine="streaming")
        owner = task.owner_of(rows)
        if task.keyed is not None:
            whose = Whose(task.keyed.person_of[owner], task.keyed.draw)
            found = treated(lambda name: rows[name], task.schema, self.source.texts, whose)
            rows = rows.with_columns(dates.alias(name) for name, dates in found.items())
        keys = [task.codes[name].gather(owner).alias(name) for name in task.person]
        told = pl.DataFrame([*keys, *(rows[name] for name in task.written)])
        return self.held(told.filter(pl.Series(task.published[owner])))

    def held(self, frame: pl.DataFrame) -> LinkedRows:
        """Return rows by what they show: nothing is left of the order in which they came."""
        return LinkedRows(HeldRows(frame.sort(frame.columns)), frame.height)

    def _owned_sets(self, schema: Schema) -> OwnedTuples:
        """Return the rows one by one: hardly two people have the same set."""
        known = list(schema.found_again_by)
        (column,) = schema.items
        with reading(self.source):
            rows = self.source.frame.select(
                *_numbered(known), cs.by_name(column).as_expr().alias("items"), pl.lit(1, pl.Int8).alias("row")
            ).collect(engine="streaming")
        raw = rows.select(_numbers(known)).rename(dict(zip(_numbers(known), known, strict=True)))
        ones = np.ones(rows.height, dtype=np.int64)
        return OwnedTuples(raw, ones, raw, np.arange(rows.height), ones, rows["items"])

    def repeated(self, columns: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Count the different values of each column: one scan for all of them."""
        if not columns:
            return {}
        every, read = pl.all(), self.source.texts.read
        with reading(self.source):
            found = (
                self.source.frame.select(_numbered(list(columns)))
                .with_columns(cs.string().map_batches(read, return_dtype=pl.String, is_elementwise=True))
                .select(every.drop_nulls().n_unique().name.prefix("different "), every.count())
                .collect(engine="streaming")
            )
        different, rows = found.row(0)[: len(columns)], found.row(0)[len(columns) :]
        return {
            name: (few, all_rows)
            for name, few, all_rows in zip(columns, different, rows, strict=True)
            if few < all_rows
        }

    def require_dates(self, dates: Mapping[str, DateTreatment]) -> None:
        """Look at each column of dates: one streamed scan for each, or two."""
        for name, days in reaches(dates).items():
            column = self.source.frame.select(cs.by_name(name).as_expr().alias("c"))
            with reading(self.source):
                require_dates(name, column, self.source.texts, reach=days)

    def rows_of(self, form: Form) -> PublishedRows:
        """Make the rows from the form's counts."""
        return CountedRows(form)

    def joined(
        self, counted: Counted, recoding: Recoding, form: Form, key: PseudonymKey | None, *, shuffle: int | None
    ) -> PublishedRows:
        """Find the rows again in the table."""
        labelled = form.labelled
        assert labelled is not None  # other forms take no columns that are kept
        return JoinedRows(self.source, counted, recoding, labelled, key or PseudonymKey.new(), shuffle)


@dataclass(frozen=True, eq=False)
class JoinedRows(PublishedRows):
    """Published rows with columns that are found again in the table, in one scan or in several."""

    source: OpenedTable
    counted: Counted
    recoding: Recoding
    form: Labelled
    key: PseudonymKey
    shuffle: int | None

    def batches(self) -> Iterator[pl.DataFrame]:
        """Join the groups with the table's rows."""
        for rows in self._joined():
            yield _published(rows, self.form)

    def _joined(self) -> Iterator[pl.DataFrame]:
        """Yield rows with their group and sensitive codes, sorted by what they will show."""
        counted, recoding, form = self.counted, self.recoding, self.form
        schema = form.schema
        known = list(schema.found_again_by)
        looked_at = sorted({other for treatment in schema.dates.values() for other in treatment.looks_at})
        number = _places_of(schema)
        identifiers = [number[name] for name in schema.pseudonyms]
        # Rows are told apart by columns in the order of their names: the order of columns must not matter.
        carried = [number[name] for name in sorted(schema.found_again)]
        # What a date is counted from may have another role, so it is read under a name of its own.
        others = {name: f"o{place}" for place, name in enumerate(looked_at)}
        lookup = pl.DataFrame([counted.raw[name].alias(f"c{place}") for place, name in enumerate(known)])
        lookup = lookup.with_columns(tuple=pl.Series(counted.tuple_of.astype(np.uint32)))
        # Somebody whose name is spelt in two ways has one pseudonym.
        read = {number[name]: name for name in schema.pseudonyms if name in schema.person}
        spelt = [names_as_read(counted.raw[name].alias(""), self.source.texts).alias(at) for at, name in read.items()]
        lookup = lookup.with_columns(spelt)
        if self._people is not None:
            lookup = lookup.with_columns(person=pl.Series(self._people.person_of))
        columns = _numbered([*known, *schema.found_again])
        columns += [cs.by_name(name).as_expr().alias(other) for name, other in others.items()]
        frame = self.source.frame.select(columns)
        for groups in self._scans():
            chosen = np.zeros(len(form.tally), dtype=bool)
            chosen[recoding.tuples[_among(groups, form.shown.group_of)]] = True
            with reading(self.source):
                rows = (
                    frame.drop(list(read))
                    .join(lookup.filter(chosen[counted.tuple_of]).lazy(), on=_numbers(known), nulls_equal=True)
                    .drop(_numbers(known))
                    .collect(engine="streaming")
                )
            _require_unchanged(rows, np.where(chosen, form.tally.counts, 0))
            # Before anything is sorted: the order of published rows must not follow the identifiers', nor true dates.
            rows = rows.with_columns(self.key.pseudonyms(rows[name]) for name in identifiers)
            rows = self._with_dates(rows, number, others)
            rows = rows.sort("tuple", *carried)
            rows = rows[dealt(rows["tuple"].to_numpy().astype(np.int64), self.shuffle)]
            yield _place_rows(rows, recoding, form, groups, carried)

    @cached_property
    def _people(self) -> KeyedPeople | None:
        """Whose each row is, where a treatment of dates asks for that."""
        schema = self.form.schema
        if not any(treatment.needs_person for treatment in schema.dates.values()):
            return None
        return keyed_people(self.counted.raw, schema, self.source.texts, self.key)

    def _with_dates(self, rows: pl.DataFrame, number: Mapping[str, str], others: Mapping[str, str]) -> pl.DataFrame:
        """Treat the dates of one scan's rows. All rows of a person are in one group, and so in one scan.

        A column that others are counted from may be one that is treated: it is read in one place, and written in
        another.
        """
        schema, people = self.form.schema, self._people
        whose = None if people is None else Whose(rows["person"].to_numpy(), people.draw)
        read = {**number, **others}
        found = treated(lambda name: rows[read[name]], schema, self.source.texts, whose)
        rows = rows.with_columns(dates.alias(number[name]) for name, dates in found.items())
        return rows.drop("person", cs.starts_with("o"), strict=False)

    def _scans(self) -> Iterator[Bools]:
        """Yield which groups each scan makes, in the order of what they show; a group is made by one scan.

        Several scans may read a tuple whose rows are in several groups, and come to the same rows for each.
        """
        scan_of_group = np.cumsum(self.form.group_sizes) // ROWS_PER_SCAN
        for scan in range(int(scan_of_group.max(initial=0)) + 1):
            yield scan_of_group == scan


def _numbered(columns: list[str]) -> list[pl.Expr]:
    """Rename columns to c0, c1, …, so that no name of the user's can clash with one of ours."""
    # By selector, since `pl.col` takes "*" and "^a.*$" for patterns.
    return [cs.by_name(name).as_expr().alias(f"c{place}") for place, name in enumerate(columns)]


def _numbers(columns: list[str]) -> list[str]:
    return [f"c{place}" for place in range(len(columns))]


def _require_unchanged(rows: pl.DataFrame, counts: Counts) -> None:
    """Refuse rows that are not those that were counted: the guarantees hold for no others."""
    if not np.array_equal(np.bincount(rows["tuple"].to_numpy(), minlength=len(counts)), counts):
        raise SourceError("the table has changed since its rows were counted.  Hint: publish it again.")


def _among(groups: Bools, group_of: Ints) -> Bools:
    """Tell who is in one of these groups; whoever is withheld is in none."""
    return np.asarray(np.append(groups, False)[np.where(group_of == WITHHELD, len(groups), group_of)])


def _place_rows(
    rows: pl.DataFrame, recoding: Recoding, form: Labelled, groups: Bools, carried: list[str]
) -> pl.DataFrame:
    """Give each row its group, and its sensitive codes; leave out rows of groups that are not wanted now."""
    tuple_of = rows["tuple"].to_numpy().astype(np.int64)
    group_of = groups_of_rows(tuple_of, recoding, form.shown.group_of)
    sensitive = {
        f"s{place}": form.tally.column(name)[tuple_of] for place, name in enumerate(form.schema.written_values)
    }
    wanted = pl.Series(_among(groups, group_of))
    rows = rows.with_columns(group=pl.Series(group_of), **{name: pl.Series(codes) for name, codes in sensitive.items()})
    rows, weighed = rows.filter(wanted), []
    if form.weights is not None:
        shown = form.weights.of(rows["group"].to_numpy(), rows["tuple"].to_numpy().astype(np.int64))
        rows, weighed = rows.with_columns(weight=pl.Series(shown)), ["weight"]
    return rows.sort("group", *sensitive, *weighed, *carried).drop("tuple")


def _places_of(schema: Schema) -> dict[str, str]:
    """Return the numbers of the columns that are found again, which come after those by which they are."""
    return {name: f"c{place}" for place, name in enumerate(schema.found_again, start=len(schema.found_again_by))}


def _published(rows: pl.DataFrame, form: Labelled) -> pl.DataFrame:
    schema, number = form.schema, _places_of(form.schema)
    columns: dict[str, pl.Series] = {name: rows[place] for name, place in number.items()}
    for shown in form.shown.written(schema.quasi):
        columns[shown.name] = shown.alias("").gather(rows["group"])
    for place, name in enumerate(schema.written_values):
        columns[name] = form.tally.trees[name].values.gather(rows[f"s{place}"])
    for name in schema.weights:
        columns[name] = rows["weight"]
    return pl.DataFrame({name: columns[name] for name in schema.published})

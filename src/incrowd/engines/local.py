"""The engine for one machine: Polars reads, counts and applies; rows are streamed wherever they can be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import polars.selectors as cs
from numpy.typing import NDArray

from incrowd.engines.dealing import dealt, groups_of_rows
from incrowd.engines.engine import Counted, Origin
from incrowd.engines.sources import Source, reading
from incrowd.errors import EmptyTable, SourceError
from incrowd.pseudonyms import PseudonymKey
from incrowd.recoding import WITHHELD, Recoding
from incrowd.releases.form import Form
from incrowd.releases.generalized import Generalized
from incrowd.schema import Schema
from incrowd.tally import Counts, code_table

ROWS_PER_BATCH = 1_000_000
ROWS_PER_SCAN = 8_000_000
"""With kept columns, at most about this many rows are in memory at once; a larger table is scanned once for each."""

_COUNT = "n"


@dataclass(frozen=True, eq=False)
class LocalEngine:
    """Rows in a file, a database's answer or a frame, on this machine."""

    source: Source

    def count(self, schema: Schema, population: Origin | None = None) -> Counted:
        """Count the distinct tuples of the quasi-identifiers and sensitive columns: one group-by, streamed.

        Of a population that the table's people belong to, the quasi-identifiers are counted beside them.
        """
        return code_counted(distinct_tuples(self.source, schema.tallied), schema, population)

    def apply(
        self, counted: Counted, recoding: Recoding, form: Form, key: PseudonymKey | None, *, shuffle: int | None
    ) -> Iterator[pl.DataFrame]:
        """Yield the published rows, batch by batch, in an order that says nothing.

        Without kept columns or pseudonyms the tally holds all there is to publish, and the rows are not read again.
        Of rows that only such columns tell apart, `shuffle` decides which ones a sample takes: the same each time.
        """
        schema = form.schema
        if not isinstance(form, Generalized) or not (schema.kept or schema.pseudonyms):
            yield from form.batches(ROWS_PER_BATCH)
            return
        for rows in self._joined(counted, recoding, form, key or PseudonymKey.new(), shuffle):
            yield _published(rows, form)

    def frame(
        self, counted: Counted, recoding: Recoding, form: Form, key: PseudonymKey | None, *, shuffle: int | None
    ) -> None:
        """Return nothing: the rows come in batches."""

    def _joined(
        self, counted: Counted, recoding: Recoding, form: Generalized, key: PseudonymKey, shuffle: int | None
    ) -> Iterator[pl.DataFrame]:
        """Yield rows with their group and sensitive codes, sorted by what they will show."""
        schema = form.schema
        tallied = list(schema.tallied)
        number = {name: f"c{place}" for place, name in enumerate((*tallied, *schema.kept, *schema.pseudonyms))}
        identifiers = [number[name] for name in schema.pseudonyms]
        # Rows are told apart by columns in the order of their names: the order of columns must not matter.
        carried = [number[name] for name in sorted((*schema.kept, *schema.pseudonyms))]
        lookup = pl.DataFrame([counted.raw[name].alias(f"c{place}") for place, name in enumerate(tallied)])
        lookup = lookup.with_columns(tuple=pl.Series(counted.tuple_of.astype(np.uint32)))
        frame = self.source.frame.select(_numbered([*tallied, *schema.kept, *schema.pseudonyms]))
        for groups in self._scans(form):
            chosen = np.zeros(len(form.tally), dtype=bool)
            chosen[recoding.tuples[_among(groups, form.shown.group_of)]] = True
            with reading(self.source):
                rows = (
                    frame.join(lookup.filter(chosen[counted.tuple_of]).lazy(), on=_numbers(tallied), nulls_equal=True)
                    .drop(_numbers(tallied))
                    .collect(engine="streaming")
                )
            _require_unchanged(rows, np.where(chosen, form.tally.counts, 0))
            # Before anything is sorted: the order of published rows must not follow the identifiers'.
            rows = rows.with_columns(key.pseudonyms(rows[name]) for name in identifiers)
            rows = rows.sort("tuple", *carried)
            rows = rows[dealt(rows["tuple"].to_numpy().astype(np.int64), shuffle)]
            yield _place_rows(rows, recoding, form, groups, carried)

    def _scans(self, form: Generalized) -> Iterator[NDArray[np.bool_]]:
        """Yield which groups each scan makes, in the order of what they show; a group is made by one scan.

        Several scans may read a tuple whose rows are in several groups, and come to the same rows for each.
        """
        scan_of_group = np.cumsum(form.group_sizes) // ROWS_PER_SCAN
        for scan in range(int(scan_of_group.max(initial=0)) + 1):
            yield scan_of_group == scan


def code_counted(distinct: tuple[pl.DataFrame, Counts], schema: Schema, population: Origin | None) -> Counted:
    """Code the distinct tuples of a table, and those of its population beside them."""
    raw, counts = distinct
    if raw.height == 0:
        raise EmptyTable("the table has columns but no rows.")
    hierarchies = {**schema.quasi, **schema.sensitive}
    people = people_counts = None
    if population is not None:
        people, people_counts = distinct_tuples(population, tuple(schema.quasi))
        if people.height == 0:
            raise EmptyTable("the population has columns but no rows.")
        people = _as_the_table_spells(people, raw)
    tally, tuple_of = code_table(raw, counts, hierarchies, people=people, people_counts=people_counts)
    if schema.kept or schema.pseudonyms:
        return Counted(tally, raw, tuple_of)
    return Counted(tally, pl.DataFrame(), tuple_of[:0])  # no row will be looked for again


def distinct_tuples(source: Origin, columns: Sequence[str]) -> tuple[pl.DataFrame, Counts]:
    """Return the distinct tuples of some columns, and how many rows have each, wherever the rows are."""
    if isinstance(source, Source):
        return _distinct(source, columns)
    from incrowd.engines.spark.counting import distinct_tuples as distinct_on_spark
    from incrowd.engines.spark.source import SparkSource

    assert isinstance(source, SparkSource)
    return distinct_on_spark(source, columns)


def _distinct(source: Source, columns: Sequence[str]) -> tuple[pl.DataFrame, Counts]:
    """Return the distinct tuples of some columns, and how many rows have each."""
    numbers = _numbers(list(columns))
    with reading(source):
        distinct = (
            source.frame.select(_numbered(list(columns)))
            .group_by(numbers)
            .agg(pl.len().cast(pl.Int64).alias(_COUNT))
            .collect(engine="streaming")
        )
    raw = distinct.drop(_COUNT).rename(dict(zip(numbers, columns, strict=True)))
    return raw, distinct[_COUNT].to_numpy()


def _as_the_table_spells(people: pl.DataFrame, raw: pl.DataFrame) -> pl.DataFrame:
    """Give the population's columns the table's types, so that equal values are equal."""
    columns = {}
    for name in people.columns:
        if people[name].dtype == raw[name].dtype:
            columns[name] = people[name]
            continue
        try:
            columns[name] = people[name].cast(raw[name].dtype)
        except pl.exceptions.PolarsError:
            raise SourceError(
                f"column '{name}' of the population holds {people[name].dtype}, that of the table {raw[name].dtype}."
            ) from None
    return pl.DataFrame(columns)


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


def _among(groups: NDArray[np.bool_], group_of: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell who is in one of these groups; whoever is withheld is in none."""
    return np.asarray(np.append(groups, False)[np.where(group_of == WITHHELD, len(groups), group_of)])


def _place_rows(
    rows: pl.DataFrame, recoding: Recoding, form: Generalized, groups: NDArray[np.bool_], carried: list[str]
) -> pl.DataFrame:
    """Give each row its group, and its sensitive codes; leave out rows of groups that are not wanted now."""
    tuple_of = rows["tuple"].to_numpy().astype(np.int64)
    group_of = groups_of_rows(tuple_of, recoding, form.shown.group_of)
    sensitive = {f"s{place}": form.tally.column(name)[tuple_of] for place, name in enumerate(form.schema.sensitive)}
    return (
        rows.with_columns(group=pl.Series(group_of), **{name: pl.Series(codes) for name, codes in sensitive.items()})
        .filter(pl.Series(_among(groups, group_of)))
        .sort("group", *sensitive, *carried)
        .drop("tuple")
    )


def _published(rows: pl.DataFrame, form: Generalized) -> pl.DataFrame:
    schema = form.schema
    first_carried = len(schema.tallied)
    columns: dict[str, pl.Series] = {}
    for place, name in enumerate(schema.pseudonyms, start=first_carried + len(schema.kept)):
        columns[name] = rows[f"c{place}"]
    for name in schema.quasi:
        columns[name] = form.shown.labels[name].gather(rows["group"])
    for place, name in enumerate(schema.sensitive):
        columns[name] = form.tally.trees[name].values.gather(rows[f"s{place}"])
    for place, name in enumerate(schema.kept, start=first_carried):
        columns[name] = rows[f"c{place}"]
    return pl.DataFrame(columns)

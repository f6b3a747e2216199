"""Dates of rows on Spark, treated by the very code of one machine: in batches of Arrow, on the executors.

What is drawn for a person is drawn on the driver, once for each distinct person, and comes to the rows in the lookup
that tells their groups: the key stays where it is, and neither it nor an amount is in a plan. All rows of a person must
be seen together, so rows are shuffled and sorted by person; an executor holds one batch, and the rows of one person.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import polars.selectors as cs
from pyspark.sql import functions as F
from pyspark.sql import types as T

from incrowd.common.arrays import Ints
from incrowd.common.records import dataclass
from incrowd.core.dated import KeyedPeople, keyed_people, reaches, treated
from incrowd.core.schema import Schema
from incrowd.dates.column import Fault, fault_of, refuse
from incrowd.dates.treatment import DateTreatment, Whose
from incrowd.engines.spark.arrow_batches import spark_type, to_arrow, to_polars
from incrowd.engines.spark.counting import arrow_only, running
from incrowd.hierarchies.texts import TextRules

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from incrowd.core.pseudonyms import PseudonymKey
    from incrowd.engines.spark.source import SparkSource

PERSON = "person"
_KINDS: dict[type[T.DataType], Any] = {
    T.StringType: pl.String,
    T.CharType: pl.String,
    T.VarcharType: pl.String,
    T.DateType: pl.Date,
    T.TimestampType: pl.Datetime("us", "UTC"),
    T.TimestampNTZType: pl.Datetime("us"),
}
"""Kinds of columns that may hold dates, as batches of Arrow bring them here, the session's zone apart."""


@dataclass(frozen=True)
class DatesOnSpark:
    """The columns of dates of a table, and what becomes of each.

    Column i of those that are read is called `oi` until then, and treated column i `ti` from then on; `di` is what was
    drawn for a row's person in the way that place i of `draws` says: how many numbers it is one of, and its purpose.
    """

    schema: Schema
    texts: TextRules
    zone: str
    """The session's: instants of Spark have no zone of their own, and are shown in this one."""
    read: Mapping[str, str]
    published: Mapping[str, str]
    draws: tuple[tuple[int, str], ...]
    fields: tuple[T.StructField, ...]
    """The treated columns, as Spark knows them."""

    @classmethod
    def of(cls, source: SparkSource, schema: Schema) -> DatesOnSpark | None:
        """Return those of a table; None where it has none."""
        if not schema.dates:
            return None
        dates = Schema({}, dates=schema.dates)
        read = {name: f"o{place}" for place, name in enumerate(reaches(schema.dates))}
        published = {name: f"t{place}" for place, name in enumerate(schema.dates)}
        empty = _empty(source, read)
        asked: dict[tuple[int, str], None] = {}

        def note(below: int, purpose: str) -> Ints:
            asked[below, purpose] = None
            return np.zeros(1, dtype=np.int64)

        # Without rows: this tells what is drawn, and which types come out.
        nothing = treated(lambda name: empty[read[name]], dates, source.texts, Whose(np.empty(0, dtype=np.int64), note))
        fields = tuple(T.StructField(published[name], spark_type(values)) for name, values in nothing.items())
        return cls(dates, source.texts, _zone(source), read, published, tuple(asked), fields)

    @property
    def needs_person(self) -> bool:
        """Whether it matters whose a row is."""
        return any(treatment.needs_person for treatment in self.schema.dates.values())

    def copied(self, source: SparkSource, rows: DataFrame) -> DataFrame:
        """Return the rows with the columns that are read under names of their own: they may have other roles, too."""
        return rows.withColumns({ours: F.col(source.number(name)) for name, ours in self.read.items()})

    def whose(self, raw: pl.DataFrame, schema: Schema, key: PseudonymKey) -> pl.DataFrame:
        """Return the person that each line of `raw` names, and what is drawn for them, as columns to be joined."""
        if not self.needs_person:
            return pl.DataFrame()
        return self.drawn(keyed_people(raw, schema, self.texts, key))

    def drawn(self, people: KeyedPeople) -> pl.DataFrame:
        """Return the number of each line's person, and what is drawn for them."""
        columns = {
            f"d{place}": pl.Series(people.draw(*asked)[people.person_of]) for place, asked in enumerate(self.draws)
        }
        return pl.DataFrame({PERSON: pl.Series(people.person_of), **columns})

    def treated(self, rows: DataFrame) -> DataFrame:
        """Return the rows with treated dates in place of those that were read, and without whose they are."""
        if self.needs_person:
            rows = rows.repartition(PERSON).sortWithinPartitions(PERSON)
        spent = {*self.read.values()} | ({PERSON, *self._drawn} if self.needs_person else set())
        kept = [field for field in rows.schema.fields if field.name not in spent]
        fields = T.StructType([*kept, *self.fields])
        with arrow_only():
            return rows.mapInArrow(_treating(self, [field.name for field in kept]), fields)

    @property
    def _drawn(self) -> list[str]:
        return [f"d{place}" for place in range(len(self.draws))]

    def treat(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return what is published of the dates of some rows; where it matters, these are all rows of some people."""
        whose = None
        frame = frame.with_columns(cs.datetime(time_zone="*").dt.convert_time_zone(self.zone))
        if self.needs_person:
            _, first, number = np.unique(frame[PERSON].to_numpy(), return_index=True, return_inverse=True)
            amounts = {
                asked: frame[name].to_numpy()[first] for asked, name in zip(self.draws, self._drawn, strict=True)
            }
            whose = Whose(number, lambda below, purpose: amounts[below, purpose])
        found = treated(lambda name: frame[self.read[name]], self.schema, self.texts, whose)
        return pl.DataFrame({self.published[name]: values for name, values in found.items()})


def require_dates_on_spark(source: SparkSource, dates: Mapping[str, DateTreatment]) -> None:
    """Refuse columns that hold anything but dates that can be treated: one job, which brings back no value."""
    reach = reaches(dates)
    if not reach:
        return
    names = list(reach)
    columns = {name: f"o{place}" for place, name in enumerate(names)}
    days, texts = list(reach.values()), source.texts
    found = {*_faults(_empty(source, columns), days, texts)}
    if not found:
        look = source.rows.select(*(F.col(source.number(name)).alias(ours) for name, ours in columns.items()))
        with running(), arrow_only():
            seen = to_polars(look.mapInArrow(_looking(days, texts), "place int, fault string").distinct())
        found = {*seen.iter_rows()}
    for place, fault in sorted(found):
        refuse(names[place], fault)


def _looking(days: list[int], texts: TextRules) -> Any:
    def look(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        found: set[tuple[int, Fault]] = set()
        for batch in batches:
            found |= _faults(pl.DataFrame(pl.from_arrow(batch)), days, texts)
        places, faults = [place for place, _ in sorted(found)], [fault for _, fault in sorted(found)]
        yield pa.RecordBatch.from_arrays(
            [pa.array(places, pa.int32()), pa.array(faults, pa.string())], names=["place", "fault"]
        )

    look.__annotations__ = {}
    return look


def _faults(frame: pl.DataFrame, days: list[int], texts: TextRules) -> set[tuple[int, Fault]]:
    """Return which columns of a frame have something wrong, and what that is."""
    found = {
        place: fault_of(frame.lazy().select(pl.col(f"o{place}").alias("c")), texts, reach=reach)
        for place, reach in enumerate(days)
    }
    return {(place, fault) for place, fault in found.items() if fault is not None}


def _treating(dates: DatesOnSpark, kept: list[str]) -> Any:
    """Return the function that Spark gives batches to; `kept` columns come out as they went in."""

    def treat(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for rows in _whole_people(batches) if dates.needs_person else map(_as_table, batches):
            looked_at = rows.select([name for name in rows.column_names if name not in kept])
            made = to_arrow(dates.treat(pl.DataFrame(pl.from_arrow(looked_at))))
            columns = {name: rows.column(name) for name in kept}
            for name, values in zip(made.column_names, made.columns, strict=True):
                columns[name] = values.cast(pa.string()) if pa.types.is_large_string(values.type) else values
            yield from pa.table(columns).combine_chunks().to_batches()

    treat.__annotations__ = {}
    return treat


def _as_table(batch: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([batch])


def _whole_people(batches: Iterator[Any]) -> Iterator[pa.Table]:
    """Yield rows that come sorted by person so that all rows of a person are together."""
    import pyarrow as pa

    held: list[Any] = []  # rows of the last person, of whom more may come
    holding = -1
    for batch in batches:
        if not batch.num_rows:
            continue
        person = batch.column(PERSON).to_numpy()
        last = int(np.searchsorted(person, person[-1]))
        if held and (last or person[-1] != holding):
            yield pa.Table.from_batches([*held, batch.slice(0, last)])
            held = []
        elif last:
            yield pa.Table.from_batches([batch.slice(0, last)])
        held.append(batch.slice(last))
        holding = int(person[-1])
    if held:
        yield pa.Table.from_batches(held)


def _zone(source: SparkSource) -> str:
    return str(source.session.conf.get("spark.sql.session.timeZone"))


def _empty(source: SparkSource, columns: Mapping[str, str]) -> pl.DataFrame:
    """Return columns of a table without rows; those that can hold no date have no type."""
    kinds = {ours: source.rows.schema[source.number(name)].dataType for name, ours in columns.items()}
    return pl.DataFrame(
        schema={
            ours: next((ours_is for spark, ours_is in _KINDS.items() if isinstance(kind, spark)), pl.Null)
            for ours, kind in kinds.items()
        }
    )

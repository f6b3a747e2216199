"""A table and the roles of its columns: what everything starts from."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Unpack

from incrowd.changes.change import Change
from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.core.engine import Engine
from incrowd.core.schema import Others, Schema
from incrowd.core.source import Reading, ReadOptions
from incrowd.dates.treatment import DateTreatment
from incrowd.engines import open_engine
from incrowd.errors import ReadingWarning, SchemaError, similar_columns
from incrowd.hierarchies.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class Table:
    """Where the rows are, and what every column is; `population` is everybody whom a row could be, if that is known."""

    engine: Engine
    schema: Schema
    population: Engine | None = None

    def as_stated(self) -> Table:
        """Return the table as private methods read it: by what was stated alone, so that no row changes another."""
        engine = self.engine.as_stated()
        if engine is self.engine:
            return self
        found, told = (source.description.get("written", {}) for source in (self.engine.source, engine.source))
        assert isinstance(found, Mapping)
        assert isinstance(told, Mapping)
        ways = {name: way for name, way in found.items() if name not in told}
        if not ways:
            return replace(self, engine=engine)
        warnings.warn(
            "under differential privacy a file is read only by what is stated: the values of some columns stay as they "
            f"are written.  Hint: {option('written', ways, section='source')}.",
            ReadingWarning,
            stacklevel=3,
        )
        return replace(self, engine=engine)

    def _repr_html_(self) -> str:
        from incrowd.publishing.notebook import table_html

        return table_html(self.schema)

    def __repr__(self) -> str:
        roles = [
            ("person", self.schema.person),
            ("household", self.schema.household),
            ("quasi", self.schema.quasi),
            ("sensitive", self.schema.sensitive),
            ("items", self.schema.items),
            ("pseudonyms", self.schema.pseudonyms),
            ("kept", self.schema.kept),
            ("dates", self.schema.dates),
            ("weight", self.schema.weights),
            ("removed", self.schema.removed),
        ]
        described = ", ".join(f"{role}={list(names)}" for role, names in roles if names)
        return f"Table({described})"


def read(
    source: object,
    *,
    quasi: Iterable[str] = (),
    sensitive: Iterable[str] = (),
    items: Iterable[str] = (),
    item_separator: str | None = None,
    person: str | Iterable[str] = (),
    household: str | Iterable[str] = (),
    identifiers: Iterable[str] = (),
    pseudonyms: Iterable[str] = (),
    keep: Iterable[str] = (),
    drop: Iterable[str] = (),
    others: Others | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    dates: Mapping[str, DateTreatment] | None = None,
    changes: Mapping[str, Change | Sequence[Change]] | None = None,
    population: object = None,
    each_row_a_person: bool = False,
    weight: str | None = None,
    private: bool = False,
    **keywords: Unpack[Reading],
) -> Table:
    """Open a table and give its columns their roles. Rows are read when they are needed, not here.

    A column that no list names is an error, unless `others` says what becomes of it.

    Parameters
    ----------
    source : a CSV, Parquet, Arrow, Excel, SPSS, Stata, SAS or DuckDB file, a folder of files of one kind, "-" for what
        is piped in, a database URL with a `query`, the address of an object store (`s3://…`), a pandas, Polars or
        PyArrow frame, or a frame of a cluster's (`incrowd list sources` and `incrowd list engines` tell all kinds).
    quasi : columns that outsiders may know, and so must be hidden in a crowd.
    sensitive : columns that must not be learnt about a person.
    items : the column of sets of items (what somebody bought, the diagnoses of a patient), of which outsiders may know
        a few: lists of a Parquet or Arrow file or a frame, or texts.
    item_separator : what stands between the items of a set that is written as text (default: ";").
    person : the column that tells whose a row is, or several that tell it together, where somebody has several rows.
        All guarantees then count people. It is not published, unless it is also one of the `pseudonyms`.
    household : the column that tells who lives together, or several that tell it together. k-anonymity then counts
        households as well as people. It is not published.
    identifiers : columns that name people; they are not published.
    pseudonyms : identifiers that are published under a keyed code.
    keep : columns that are published as they are.
    drop : columns that are not published.
    others : "keep" or "drop", for columns that no list names.
    hierarchies : how the values of a column become less specific (default: found out by its values).
    dates : columns of dates that are published after a treatment, with what it is: `{"visit": ic.ShiftDates(30)}`.
    changes : what becomes of sensitive and kept columns before they are published, one change or several in order:
        `{"income": ic.Rounding(1000)}`.
    query : what to read from a database: a SELECT, or a table's name.
    separator, quote, encoding : how a CSV file is written (default: found out).
    missing : texts that stand for a missing value, such as "?" or "NA". Empty texts, "NaN" and "nan" always do.
    exact_text : compare texts character by character (default: False: `HIV` and `HIV ` are one value, and so are two
        ways of Unicode to write one letter).
    sheet, header_row : which sheet of a workbook, by its name or its number from 1, and which of its rows names the
        columns (default: the only sheet that holds something, and its first row that does).
    value_labels : "text" or "codes": whether values of a statistics program's file are shown by their labels (default:
        by labels, where at least two values have one).
    missing_codes : "missing" or "values": what codes are that SPSS declares as missing (default: missing).
    population : a table of everybody who might be in this one, for models that ask how many people a row could be.
    each_row_a_person : every row is a person of its own, although identifiers or pseudonyms repeat (default: False, a
        table in which they do is not published unless `person` tells whose a row is).
    weight : the column of survey weights: how many people of the population each person of the table stands for. It is
        published beside the labels, so that it singles nobody out, and used by counts and risks of a population.
    private : read a CSV file by what is stated and by its header alone, so that no row decides how another one is read,
        or whether the file is: what methods under differential privacy need (default: False; recipes with such a
        method do it). A line that cannot be read is a row without values.

    header : False, or the columns' names, where the first line of a CSV file is a row; True where it holds names
        (default: it holds names, and a file in which it looks like a row is refused).
    decimal : the decimal sign of a CSV file's numbers, "," or "." (default: found out).
    written : how columns of a CSV file are written, such as `{"born": "dd.mm.yyyy", "income": "1.234,5"}` (default:
        found out where every row fits); "plain" reads all cells as they are.

    >>> import polars as pl
    >>> read(pl.DataFrame({"age": [30, 41], "flu": [True, False]}), quasi=["age"], sensitive=["flu"])
    Table(quasi=['age'], sensitive=['flu'])
    """
    items = tuple(items) if not isinstance(items, str) else items
    options = ReadOptions.of(keywords, lists=tuple(items), only_stated=private)
    engine = open_engine(source, options)
    for note in engine.source.notes:
        warnings.warn(note, ReadingWarning, stacklevel=2)
    schema = Schema.of(
        engine.source.columns,
        quasi=quasi,
        sensitive=sensitive,
        items=items,
        item_separator=item_separator,
        person=person,
        household=household,
        identifiers=identifiers,
        pseudonyms=pseudonyms,
        keep=keep,
        drop=drop,
        others=others,
        hierarchies=hierarchies,
        dates=dates,
        changes=changes,
        each_row_a_person=each_row_a_person,
        weight=weight,
    )
    if not schema.quasi and not schema.items and not schema.person:  # a table of events has none
        raise SchemaError(
            "no column is a quasi-identifier.  Hint: name those that outsiders may know, such as age or zip."
        )
    people = None if population is None else _open_population(population, schema)
    return Table(engine, schema, people)


def _open_population(population: object, schema: Schema) -> Engine:
    people = open_engine(population)
    for name in schema.quasi:
        if name not in people.source.columns:
            raise SchemaError(
                f"the population lacks the quasi-identifier '{name}'.{similar_columns(name, people.source.columns)}"
            )
    return people

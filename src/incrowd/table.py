"""A table and the roles of its columns: what everything starts from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from incrowd.engines.engine import Engine, Origin
from incrowd.engines.local import LocalEngine
from incrowd.engines.sources import Source, open_source
from incrowd.engines.sources.files import refuse_keywords
from incrowd.engines.sources.frames import is_spark_frame
from incrowd.errors import SchemaError, did_you_mean
from incrowd.hierarchies import Hierarchy
from incrowd.schema import Others, Schema


@dataclass(frozen=True, eq=False)
class Table:
    """Where the rows are, and what every column is; `population` is everybody whom a row could be, if that is known."""

    engine: Engine
    schema: Schema
    population: Origin | None = None

    def _repr_html_(self) -> str:
        from incrowd.report.notebook import table_html

        return table_html(self)

    def __repr__(self) -> str:
        roles = [
            ("quasi", self.schema.quasi),
            ("sensitive", self.schema.sensitive),
            ("pseudonyms", self.schema.pseudonyms),
            ("kept", self.schema.kept),
            ("removed", self.schema.removed),
        ]
        described = ", ".join(f"{role}={list(names)}" for role, names in roles if names)
        return f"Table({described})"


def read(
    source: object,
    *,
    quasi: Iterable[str],
    sensitive: Iterable[str] = (),
    identifiers: Iterable[str] = (),
    pseudonyms: Iterable[str] = (),
    keep: Iterable[str] = (),
    drop: Iterable[str] = (),
    others: Others | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    query: str | None = None,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] = (),
    population: object = None,
) -> Table:
    """Open a table and give its columns their roles. Rows are read when they are needed, not here.

    `source` is a CSV, Parquet or Arrow file, a folder of Parquet files, a database URL with a `query`, or a pandas,
    Polars, PyArrow or Spark frame.
    `identifiers` and `drop` are not published; `pseudonyms` are identifiers published under a keyed code; `keep` are
    published as they are. A column that no list names is an error, unless `others` is "keep" or "drop". `population`
    is a table of everybody who might be in this one, for models that ask how many people a row could be.

    >>> import polars as pl
    >>> read(pl.DataFrame({"age": [30, 41], "flu": [True, False]}), quasi=["age"], sensitive=["flu"])
    Table(quasi=['age'], sensitive=['flu'])
    """
    engine: Engine
    if is_spark(source):
        refuse_keywords(
            {"query": query, "separator": separator, "quote": quote, "encoding": encoding}, "this is a Spark frame"
        )
        engine = _spark_engine(source, missing)
    else:
        engine = LocalEngine(
            open_source(source, query=query, separator=separator, quote=quote, encoding=encoding, missing=missing)
        )
    schema = Schema.of(
        engine.source.columns,
        quasi=quasi,
        sensitive=sensitive,
        identifiers=identifiers,
        pseudonyms=pseudonyms,
        keep=keep,
        drop=drop,
        others=others,
        hierarchies=hierarchies,
    )
    if not schema.quasi:
        raise SchemaError(
            "no column is a quasi-identifier.  Hint: name those that outsiders may know, such as age or zip."
        )
    people = None if population is None else _open_population(population, schema)
    return Table(engine, schema, people)


def is_spark(source: object) -> bool:
    """Whether rows are on Spark: in a frame of its own, or in one that was opened already."""
    return is_spark_frame(source) or getattr(source, "native", None) == "spark"


def _spark_engine(source: Any, missing: Sequence[str] = ()) -> Engine:
    from incrowd.engines.spark.engine import SparkEngine
    from incrowd.engines.spark.source import SparkSource, open_spark

    return SparkEngine(source if isinstance(source, SparkSource) else open_spark(source, missing=missing))


def _open_population(population: object, schema: Schema) -> Origin:
    people: Origin
    if is_spark(population):
        people = _spark_engine(population).source
    else:
        people = population if isinstance(population, Source) else open_source(population)
    for name in schema.quasi:
        if name not in people.columns:
            raise SchemaError(
                f"the population lacks the quasi-identifier '{name}'.{did_you_mean(name, people.columns)}"
            )
    return people

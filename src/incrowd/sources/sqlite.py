"""SQLite through the standard library, read-only.

SQLite lets every cell have its own type. A column of whole numbers and fractions becomes fractions; any other mixture
becomes text.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from incrowd.common.records import dataclass
from incrowd.core.source import Location, OpenedTable, ReadOptions, Source
from incrowd.errors import SourceError
from incrowd.sources.normalize import refuse_duplicates
from incrowd.sources.sql import open_query

if TYPE_CHECKING:
    import sqlite3

_ONLY_READS = "a query may only read.  Hint: it must be a SELECT."
PREFIX = "sqlite:///"
_BATCH = 50_000
_HARMLESS = ("SQLITE_READONLY", "SQLITE_NOTADB", "SQLITE_CORRUPT", "SQLITE_BUSY", "SQLITE_IOERR", "SQLITE_CANTOPEN")
_TYPES: dict[frozenset[type], type[pl.DataType]] = {
    frozenset(): pl.String,
    frozenset({str}): pl.String,
    frozenset({int}): pl.Int64,
    frozenset({float}): pl.Float64,
    frozenset({int, float}): pl.Float64,
}


@dataclass(frozen=True)
class SqliteDatabase(Source):
    """What a query on a SQLite database returns."""

    name: ClassVar[str] = "sqlite"
    accepts: ClassVar[str] = "the URL of a SQLite file, sqlite:///, with a query"
    schemes: ClassVar[tuple[str, ...]] = ("sqlite",)

    def open(self, location: Location, options: ReadOptions) -> OpenedTable:
        """Run the query."""
        return open_query(location, options, fetch, where="the SQLite database")


def fetch(url: str, query: str, *, where: str) -> pl.DataFrame:
    """Return the result of a query on the database that `sqlite:///relative.db` or `sqlite:////absolute.db` names."""
    import sqlite3  # only where there is such a file: every source is imported to learn its name

    path = _path(url)
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.set_authorizer(_only_reading)
            _compile(connection, query, where)
            cursor = connection.execute(query)
            if cursor.description is None:
                raise SourceError(f"{where}: the query returns no table.  Hint: it must be a SELECT.")
            names = [column[0] for column in cursor.description]
            refuse_duplicates(names, "the query's result")
            return _collect(names, _batches(cursor), where)
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise SourceError(f"{where}: {_explain(error)}") from None


def _only_reading(action: int, one: str | None, other: str | None, *_: object) -> int:
    """Tell SQLite what a query may do: read, and call functions; not attach or copy a database, nor change settings.

    Virtual tables (full text, JSON) declare themselves, which counts as a change of the schema that is never written.
    """
    import sqlite3

    reads = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
    declares = action == sqlite3.SQLITE_UPDATE and one in ("sqlite_master", "sqlite_schema")
    asks = action == sqlite3.SQLITE_PRAGMA and one == "data_version" and other is None
    return sqlite3.SQLITE_OK if action in reads or declares or asks else sqlite3.SQLITE_DENY


def _path(url: str) -> Path:
    name = url[len(PREFIX) :]
    if not url.lower().startswith(PREFIX) or not name:
        raise SourceError("an SQLite URL is 'sqlite:///relative.db' or 'sqlite:////absolute/path.db'.")
    path = Path(name)
    if not path.is_file():
        raise SourceError(f"{path}: there is no such SQLite database.")
    return path


def _compile(connection: sqlite3.Connection, query: str, where: str) -> None:
    """Have SQLite translate the query without running it: it has seen no cell then, so all that it says may be told."""
    import sqlite3

    try:
        connection.execute(f"EXPLAIN {query}")
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise SourceError(f"{where}: {_ONLY_READS if _is_denied(error) else f'{error}.'}") from None


def _is_denied(error: Exception) -> bool:
    return "authoriz" in str(error)


def _explain(error: Exception) -> str:
    """Return what went wrong while the query ran; SQLite's own words may quote a cell, unless they are known not to."""
    if _is_denied(error):
        return _ONLY_READS
    if "decode to UTF-8" in str(error):
        return "a column holds text that is not UTF-8."
    if getattr(error, "sqlite_errorname", "").startswith(_HARMLESS):
        return f"{error}."
    return "the query fails on the data it reads."


def _batches(cursor: sqlite3.Cursor) -> Iterator[list[tuple[object, ...]]]:
    while rows := cursor.fetchmany(_BATCH):
        yield rows


def _collect(names: list[str], batches: Iterator[list[tuple[object, ...]]], where: str) -> pl.DataFrame:
    """Return the batches as one frame; what type a column has is known only after the last one."""
    pieces: list[list[pl.Series]] = [[] for _ in names]
    kinds: list[set[type]] = [set() for _ in names]
    for rows in batches:
        for at, values in enumerate(zip(*rows, strict=True)):
            found = set(map(type, values)) - {type(None)}
            if bytes in found:
                raise SourceError(f"{where}: column '{names[at]}' holds binary data.  Hint: leave it out of the query.")
            kinds[at] |= found
            pieces[at].append(_series(list(values), frozenset(found)))
    return pl.DataFrame([_joined(*column) for column in zip(names, pieces, kinds, strict=True)])


def _series(values: list[object], kinds: frozenset[type]) -> pl.Series:
    if kinds in _TYPES:
        return pl.Series(values, dtype=_TYPES[kinds], strict=False)
    return _text(values)


def _text(values: list[object]) -> pl.Series:
    return pl.Series([None if value is None else str(value) for value in values], dtype=pl.String)


def _joined(name: str, pieces: list[pl.Series], kinds: set[type]) -> pl.Series:
    dtype = _TYPES.get(frozenset(kinds), pl.String)
    if dtype == pl.String:
        # Python's own spelling of a number, so that it is the same in every batch.
        pieces = [piece if piece.dtype == pl.String else _text(piece.to_list()) for piece in pieces]
    else:
        pieces = [piece.cast(dtype) for piece in pieces]
    return pl.concat(pieces).alias(name) if pieces else pl.Series(name, [], dtype=dtype)

"""SQLite, which knows numbers and texts: everything else is written as text."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import date
from typing import ClassVar

import polars as pl

from incrowd.common.records import dataclass
from incrowd.errors import OutputError
from incrowd.hierarchies.values import as_text
from incrowd.publishing.databases.database import FileTables, database_file, quoted
from incrowd.publishing.sinks.held_types import Held, times_as_text
from incrowd.sources.sqlite import PREFIX, fetch

_HELD = Held("an SQLite table", program="SQLite", first_date=date.min, times=False, booleans=False)
_AT_ONCE = 50_000


@dataclass(frozen=True)
class SqliteTables(FileTables):
    """The tables of an SQLite file."""

    asked: ClassVar[str] = "SELECT 1 FROM sqlite_master WHERE lower(name) = lower(?)"

    def create(self, name: str, batches: Iterator[pl.DataFrame]) -> None:
        """Insert batch after batch."""
        made = False
        for batch in batches:
            held = pl.DataFrame([_plain(values) for values in batch.get_columns()])
            if not made:
                # Text and REAL keep texts of digits apart from numbers.
                columns = ", ".join(f"{quoted(column)} {_kind(dtype)}" for column, dtype in batch.schema.items())
                self.connection.execute(f"CREATE TABLE {quoted(name)} ({columns})")
                made = True
            places = ", ".join("?" * held.width)
            for piece in held.iter_slices(_AT_ONCE):
                self.connection.executemany(f"INSERT INTO {quoted(name)} VALUES ({places})", piece.iter_rows())


@dataclass(frozen=True)
class SqliteReleases:
    """Releases in an SQLite file."""

    schemes: ClassVar[tuple[str, ...]] = ("sqlite",)
    has_times: ClassVar[bool] = False

    @contextmanager
    def transaction(self, url: str) -> Iterator[SqliteTables]:
        """Write into a file, a new one where there is none."""
        with database_file(url, PREFIX, "an SQLite") as path:
            try:
                with closing(sqlite3.connect(path, isolation_level=None)) as connection:
                    connection.execute("BEGIN IMMEDIATE")
                    yield SqliteTables(connection)
                    connection.execute("COMMIT")  # what is not committed is gone when the connection is closed
            except sqlite3.Error as error:
                name = f"{type(error).__name__} ({error.sqlite_errorname})"
                raise OutputError(f"{path} cannot be written: {name}.") from None

    def fetch(self, url: str, name: str) -> pl.DataFrame:
        """Return a whole table."""
        return fetch(url, f"SELECT * FROM {quoted(name)}", where="the SQLite database")


def _kind(dtype: pl.DataType) -> str:
    return "INTEGER" if dtype.is_integer() else "REAL" if dtype.is_float() else "TEXT"


def _plain(values: pl.Series) -> pl.Series:
    if values.dtype.is_decimal():
        return as_text(values)
    held = _HELD.column(values)
    return times_as_text(held) if held.dtype.is_temporal() else held

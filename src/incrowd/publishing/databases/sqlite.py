"""SQLite, which knows numbers and texts: everything else is written as text."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import ClassVar

import polars as pl

from incrowd.errors import OutputError
from incrowd.hierarchies.values import as_text
from incrowd.publishing.databases.database import quoted
from incrowd.publishing.sinks.held_types import Held
from incrowd.sources.sqlite import PREFIX, fetch

_HELD = Held("an SQLite table", program="SQLite", first_date=date.min, times=False, booleans=False)
_AT_ONCE = 50_000


@dataclass(frozen=True)
class SqliteTables:
    """The tables of an SQLite file."""

    connection: sqlite3.Connection

    def has(self, name: str) -> bool:
        """Ask its catalogue; names are the same in any letter case."""
        found = self.connection.execute("SELECT 1 FROM sqlite_master WHERE lower(name) = lower(?)", [name])
        return found.fetchone() is not None

    def drop(self, name: str) -> None:
        """Remove a table."""
        self.connection.execute(f"DROP TABLE {quoted(name)}")

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

    def texts(self, name: str) -> dict[str, str]:
        """Return a table of two columns of texts."""
        return dict(self.connection.execute(f"SELECT * FROM {quoted(name)}").fetchall())


@dataclass(frozen=True)
class SqliteReleases:
    """Releases in an SQLite file."""

    schemes: ClassVar[tuple[str, ...]] = ("sqlite",)

    @contextmanager
    def transaction(self, url: str) -> Iterator[SqliteTables]:
        """Write into a file, a new one where there is none."""
        path = Path(url[len(PREFIX) :])
        if not url.lower().startswith(PREFIX) or not path.name:
            raise OutputError("an SQLite URL is 'sqlite:///relative.db' or 'sqlite:////absolute/path.db'.")
        was_there = path.exists()
        written = False
        try:
            with closing(sqlite3.connect(path, isolation_level=None)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                yield SqliteTables(connection)
                connection.execute("COMMIT")  # what is not committed is gone when the connection is closed
                written = True
        except sqlite3.Error as error:
            raise OutputError(f"{path} cannot be written: {type(error).__name__} ({error.sqlite_errorname}).") from None
        finally:
            if not was_there and not written:
                path.unlink(missing_ok=True)

    def fetch(self, url: str, name: str) -> pl.DataFrame:
        """Return a whole table."""
        return fetch(url, f"SELECT * FROM {quoted(name)}", where="the SQLite database")


def _kind(dtype: pl.DataType) -> str:
    return "INTEGER" if dtype.is_integer() else "REAL" if dtype.is_float() else "TEXT"


def _plain(values: pl.Series) -> pl.Series:
    if values.dtype.is_decimal():
        return as_text(values)
    held = _HELD.column(values)
    return as_text(held) if held.dtype.is_temporal() else held

"""PostgreSQL through ADBC: rows go over as Arrow, in one transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import polars as pl

from incrowd.common.extras import require_extra
from incrowd.common.records import dataclass
from incrowd.errors import OutputError
from incrowd.hierarchies.values import as_text
from incrowd.publishing.databases.database import quoted
from incrowd.sources.postgresql import fetch


@dataclass(frozen=True)
class PostgresqlTables:
    """The tables of a PostgreSQL database."""

    connection: Any

    def has(self, name: str) -> bool:
        """Ask its catalogue for what this name would mean."""
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT to_regclass($1) IS NOT NULL", [quoted(name)])
            return bool(cursor.fetchone()[0])

    def drop(self, name: str) -> None:
        """Remove a table."""
        with self.connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE {quoted(name)}")

    def create(self, name: str, batches: Iterator[pl.DataFrame]) -> None:
        """Hand over batch after batch."""
        made = False
        for batch in batches:
            held = pl.DataFrame([_plain(values) for values in batch.get_columns()])
            with self.connection.cursor() as cursor:
                arrow = held.to_arrow(compat_level=pl.CompatLevel.oldest())
                cursor.adbc_ingest(name, arrow, mode="append" if made else "create")
            made = True

    def texts(self, name: str) -> dict[str, str]:
        """Return a table of two columns of texts."""
        with self.connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {quoted(name)}")
            return dict(cursor.fetchall())


@dataclass(frozen=True)
class PostgresqlReleases:
    """Releases in a PostgreSQL database."""

    schemes: ClassVar[tuple[str, ...]] = ("postgresql", "postgres")
    has_times: ClassVar[bool] = True

    @contextmanager
    def transaction(self, url: str) -> Iterator[PostgresqlTables]:
        """Connect, and commit at the end."""
        require_extra("postgresql", "PostgreSQL databases")
        from adbc_driver_postgresql import dbapi

        try:
            with dbapi.connect(url) as connection:
                try:
                    yield PostgresqlTables(connection)
                    connection.commit()
                except BaseException:
                    connection.rollback()
                    raise
        except dbapi.Error as error:
            # Its own words may hold the password, or a value.
            state = f", SQLSTATE {error.sqlstate}" if error.sqlstate else ""
            raise OutputError(f"the PostgreSQL database cannot be written ({type(error).__name__}{state}).") from None

    def fetch(self, url: str, name: str) -> pl.DataFrame:
        """Return a whole table."""
        return fetch(url, f"SELECT * FROM {quoted(name)}", where="the PostgreSQL database")


def _plain(values: pl.Series) -> pl.Series:
    dtype = values.dtype
    if dtype in (pl.Duration, pl.Int128, pl.UInt128, pl.UInt64) or dtype.is_decimal():
        return as_text(values)
    return values.cast(pl.Int64) if dtype in (pl.UInt8, pl.UInt16, pl.UInt32, pl.Int8) else values

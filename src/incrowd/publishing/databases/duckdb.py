"""DuckDB, which keeps the types of columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import polars as pl

from incrowd.common.extras import needing_extra
from incrowd.common.records import dataclass
from incrowd.errors import OutputError
from incrowd.hierarchies.values import as_text
from incrowd.publishing.databases.database import FileTables, database_file, quoted
from incrowd.sources.duckdb import PREFIX, ArrowStream, fetch

_INCOMING = "incrowd_incoming"


@dataclass(frozen=True)
class DuckdbTables(FileTables):
    """The tables of a DuckDB file."""

    asked: ClassVar[str] = "SELECT 1 FROM information_schema.tables WHERE lower(table_name) = lower(?)"

    def create(self, name: str, batches: Iterator[pl.DataFrame]) -> None:
        """Hand over batch after batch."""
        made = False
        for batch in batches:
            held = pl.DataFrame([_plain(values) for values in batch.get_columns()])
            self.connection.register(_INCOMING, ArrowStream(held))
            begin = "INSERT INTO {}" if made else "CREATE TABLE {} AS"
            self.connection.execute(f"{begin.format(quoted(name))} SELECT * FROM {_INCOMING}")
            self.connection.unregister(_INCOMING)
            made = True


@dataclass(frozen=True)
class DuckdbReleases:
    """Releases in a DuckDB file."""

    schemes: ClassVar[tuple[str, ...]] = ("duckdb",)
    has_times: ClassVar[bool] = True

    @contextmanager
    def transaction(self, url: str) -> Iterator[DuckdbTables]:
        """Write into a file, a new one where there is none."""
        with needing_extra("duckdb", "DuckDB files"):
            import duckdb
        with database_file(url, PREFIX, "a DuckDB") as path:
            try:
                with duckdb.connect(str(path)) as connection:
                    connection.execute("BEGIN TRANSACTION")
                    yield DuckdbTables(connection)
                    connection.execute("COMMIT")  # what is not committed is gone when the connection is closed
            except duckdb.Error as error:
                raise OutputError(f"{path} cannot be written ({type(error).__name__}).") from None

    def fetch(self, url: str, name: str) -> pl.DataFrame:
        """Return a whole table."""
        return fetch(Path(url[len(PREFIX) :]), f"SELECT * FROM {quoted(name)}")[0]


def _plain(values: pl.Series) -> pl.Series:
    wide = values.dtype in (pl.Duration, pl.Int128, pl.UInt128)
    return as_text(values) if wide else values

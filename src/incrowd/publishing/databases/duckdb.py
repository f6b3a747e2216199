"""DuckDB, which keeps the types of columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from incrowd.common.extras import needing_extra
from incrowd.errors import OutputError
from incrowd.hierarchies.values import as_text
from incrowd.publishing.databases.database import quoted
from incrowd.sources.duckdb import PREFIX, ArrowStream, fetch

_INCOMING = "incrowd_incoming"


@dataclass(frozen=True)
class DuckdbTables:
    """The tables of a DuckDB file."""

    connection: Any

    def has(self, name: str) -> bool:
        """Ask its catalogue; names are the same in any letter case."""
        asked = "SELECT 1 FROM information_schema.tables WHERE lower(table_name) = lower(?)"
        return self.connection.execute(asked, [name]).fetchone() is not None

    def drop(self, name: str) -> None:
        """Remove a table."""
        self.connection.execute(f"DROP TABLE {quoted(name)}")

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

    def texts(self, name: str) -> dict[str, str]:
        """Return a table of two columns of texts."""
        return dict(self.connection.execute(f"SELECT * FROM {quoted(name)}").fetchall())


@dataclass(frozen=True)
class DuckdbReleases:
    """Releases in a DuckDB file."""

    schemes: ClassVar[tuple[str, ...]] = ("duckdb",)

    @contextmanager
    def transaction(self, url: str) -> Iterator[DuckdbTables]:
        """Write into a file, a new one where there is none."""
        with needing_extra("duckdb", "DuckDB files"):
            import duckdb
        path = Path(url[len(PREFIX) :])
        if not url.lower().startswith(PREFIX) or not path.name:
            raise OutputError("a DuckDB URL is 'duckdb:///relative.db' or 'duckdb:////absolute/path.db'.")
        was_there = path.exists()
        written = False
        try:
            with duckdb.connect(str(path)) as connection:
                connection.execute("BEGIN TRANSACTION")
                yield DuckdbTables(connection)
                connection.execute("COMMIT")  # what is not committed is gone when the connection is closed
                written = True
        except duckdb.Error as error:
            raise OutputError(f"{path} cannot be written ({type(error).__name__}).") from None
        finally:
            if not was_there and not written:
                path.unlink(missing_ok=True)
                path.with_name(f"{path.name}.wal").unlink(missing_ok=True)

    def fetch(self, url: str, name: str) -> pl.DataFrame:
        """Return a whole table."""
        return fetch(Path(url[len(PREFIX) :]), f"SELECT * FROM {quoted(name)}")[0]


def _plain(values: pl.Series) -> pl.Series:
    wide = values.dtype in (pl.Duration, pl.Int128, pl.UInt128)
    return as_text(values) if wide else values

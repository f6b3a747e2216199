"""What every database can do with a release: take all of its tables, or none. And what those in one file share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, ClassVar, Protocol

import polars as pl

from incrowd.common.records import dataclass
from incrowd.errors import OutputError


class Tables(Protocol):
    """The tables of a database within one transaction."""

    def has(self, name: str) -> bool:
        """Whether there is a table of this name."""
        ...

    def drop(self, name: str) -> None:
        """Remove a table."""
        ...

    def create(self, name: str, batches: Iterator[pl.DataFrame]) -> None:
        """Make a new table of all batches."""
        ...

    def texts(self, name: str) -> dict[str, str]:
        """Return a table of two columns of texts."""
        ...


class Database(Protocol):
    """A kind of database. Implementations are frozen dataclasses, one file each."""

    schemes: ClassVar[tuple[str, ...]]
    """What its URLs begin with."""
    has_times: ClassVar[bool]
    """Whether times have a type there; otherwise they are texts."""

    def transaction(self, url: str) -> AbstractContextManager[Tables]:
        """Begin a transaction that is committed when all went well, and otherwise leaves nothing."""
        ...

    def fetch(self, url: str, name: str) -> pl.DataFrame:
        """Return a whole table."""
        ...


def quoted(name: str) -> str:
    """Return a name as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class FileTables:
    """The tables of a database that is a file, within one transaction."""

    connection: Any
    asked: ClassVar[str]
    """What asks its catalogue for a table; names are the same in any letter case."""

    def has(self, name: str) -> bool:
        """Ask its catalogue."""
        return self.connection.execute(self.asked, [name]).fetchone() is not None

    def drop(self, name: str) -> None:
        """Remove a table."""
        self.connection.execute(f"DROP TABLE {quoted(name)}")

    def texts(self, name: str) -> dict[str, str]:
        """Return a table of two columns of texts."""
        return dict(self.connection.execute(f"SELECT * FROM {quoted(name)}").fetchall())


@contextmanager
def database_file(url: str, prefix: str, program: str) -> Iterator[Path]:
    """Yield the file that a URL names; one that was not there before is gone again unless all goes well."""
    path = Path(url[len(prefix) :])
    if not url.lower().startswith(prefix) or not path.name:
        raise OutputError(f"{program} URL is '{prefix}relative.db' or '{prefix}/absolute/path.db'.")
    was_there = path.exists()
    try:
        yield path
    except BaseException:
        if not was_there:
            path.unlink(missing_ok=True)
            path.with_name(f"{path.name}.wal").unlink(missing_ok=True)
        raise

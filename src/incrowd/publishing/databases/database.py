"""What every database can do with a release: take all of its tables, or none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import ClassVar, Protocol

import polars as pl


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

    def transaction(self, url: str) -> AbstractContextManager[Tables]:
        """Begin a transaction that is committed when all went well, and otherwise leaves nothing."""
        ...

    def fetch(self, url: str, name: str) -> pl.DataFrame:
        """Return a whole table."""
        ...


def quoted(name: str) -> str:
    """Return a name as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'

"""The file of a ledger: an SQLite database in which entries are added, one whole transaction each.

`BEGIN IMMEDIATE` lets one process write at a time, whatever others do, and `synchronous = FULL` means that what was
written is on the disk before anybody goes on.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from incrowd.errors import LedgerError
from incrowd.ledger.entries import FIRST, Entry, Kind, as_text, chained

_WAIT = 60.0
"""Seconds that a process waits for another one to finish its entry."""
_TABLE = """
CREATE TABLE entries (
    number INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, told TEXT NOT NULL,
    previous TEXT NOT NULL, hash TEXT NOT NULL, seal TEXT NOT NULL
) STRICT
"""
_COLUMNS = "number, time, kind, told, previous, hash, seal"

Decide = Callable[[list[Entry]], tuple[Kind, Mapping[str, Any]]]
"""Looks at all entries so far, and returns what to add; or raises, and nothing is added."""


def create(path: Path, key: bytes, told: Mapping[str, Any]) -> None:
    """Make the file, readable by its owner alone, with the entry that begins it."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with _connected(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_TABLE)
        _insert(connection, chained(1, _now(), "begun", told, FIRST, key))
        connection.execute("COMMIT")


class Store:
    """The entries of a file. Those that were read once are not read again, but by `read_all`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: list[Entry] = []

    def add(self, key: bytes, decide: Decide) -> Entry:
        """Add what `decide` makes of all entries so far; nobody else adds anything in between."""
        with _connected(self._path) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                before = self._up_to_date(connection)
                kind, told = decide(before)
                last = before[-1]
                made = chained(last.number + 1, _now(), kind, told, last.hash, key)
                _insert(connection, made)
                connection.execute("COMMIT")
            except BaseException:
                connection.execute("ROLLBACK")
                raise
        return made

    def read(self) -> list[Entry]:
        """Return all entries, in order."""
        with _connected(self._path) as connection:
            return list(self._up_to_date(connection))

    def read_all(self) -> list[Entry]:
        """Return all entries as they are now, whoever changed them since they were read before."""
        self._known = []
        return self.read()

    def _up_to_date(self, connection: sqlite3.Connection) -> list[Entry]:
        self._known += _read(connection, self._known[-1].number if self._known else 0)
        if not self._known:
            raise LedgerError("the ledger has no entries: somebody removed them.")
        return self._known


@contextmanager
def _connected(path: Path) -> Iterator[sqlite3.Connection]:
    if not path.is_file():
        raise LedgerError(f"{path.parent} is not a ledger.  Hint: make one with `incrowd ledger init`.")
    try:
        with closing(sqlite3.connect(path, timeout=_WAIT, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = FULL")
            yield connection
    except sqlite3.Error as error:
        raise LedgerError(f"the ledger {path} cannot be used: {error}.") from error


def _insert(connection: sqlite3.Connection, entry: Entry) -> None:
    connection.execute(
        f"INSERT INTO entries ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (entry.number, entry.time, entry.kind, as_text(entry.told), entry.previous, entry.hash, entry.seal),
    )


def _read(connection: sqlite3.Connection, after: int) -> list[Entry]:
    asked = f"SELECT {_COLUMNS} FROM entries WHERE number > ? ORDER BY number"
    found = connection.execute(asked, (after,)).fetchall()
    try:
        return [Entry(number, time, kind, json.loads(told), *rest) for number, time, kind, told, *rest in found]
    except ValueError as error:
        raise LedgerError("the ledger holds an entry that cannot be read: somebody changed it.") from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

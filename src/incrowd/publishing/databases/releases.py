"""Releases in databases: which database a URL names, and all of a release written there or read from there."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

import polars as pl

from incrowd.errors import OutputError, SourceError
from incrowd.publishing.databases.database import Database, Tables
from incrowd.publishing.databases.duckdb import DuckdbReleases
from incrowd.publishing.databases.postgresql import PostgresqlReleases
from incrowd.publishing.databases.sqlite import SqliteReleases
from incrowd.sources.sql import without_password

DATABASES: Mapping[str, Database] = {
    scheme: kind for kind in (DuckdbReleases(), PostgresqlReleases(), SqliteReleases()) for scheme in kind.schemes
}
_DEFAULT = "release"
_FILES, _TABLES, _DATA = "files", "tables", "data"


def is_database(place: object) -> bool:
    """Whether a place for a release is a database."""
    return isinstance(place, str) and place.partition("://")[0].lower() in DATABASES and "://" in place


def is_release_in_database(place: object) -> bool:
    """Whether this names a release in a database, and not any table of it: by a name after `#`."""
    return is_database(place) and "#" in str(place)


def shown(place: object) -> str:
    """Return the place as it may be told."""
    url, _, name = str(place).partition("#")
    return f"{without_password(url)}#{name or _DEFAULT}"


@contextmanager
def new_release(place: str, *, force: bool) -> Iterator[_New]:
    """Begin a transaction for a release that is free to be written; what is there is replaced only with `force`."""
    database, url, name = _found(place)
    with database.transaction(url) as tables:
        _make_room(tables, name, shown(place), force=force)
        yield _New(tables, name, has_times=database.has_times)


def require_room(place: str, *, force: bool) -> None:
    """Refuse a database that cannot be written to, or in which the name is taken."""
    database, url, name = _found(place)
    try:
        with database.transaction(url) as tables:
            _make_room(tables, name, shown(place), force=force)
            raise _Undone
    except _Undone:
        pass


class _Undone(Exception):
    """Ends a transaction that was only tried."""


class _New:
    """A release that is being written."""

    def __init__(self, tables: Tables, name: str, *, has_times: bool) -> None:
        self._tables, self._name = tables, name
        self.has_times = has_times
        self._made: list[str] = []

    def write(self, table: str, batches: Iterator[pl.DataFrame]) -> None:
        """Write one of its tables; `data` are its rows."""
        self._tables.create(_table(self._name, table), batches)
        self._made.append(table)

    def write_files(self, texts: Mapping[str, str]) -> None:
        """Write what is in its other files, and what tables there are."""
        held = {**texts, _TABLES: json.dumps(self._made)}
        frame = pl.DataFrame({"file": list(held), "content": list(held.values())})
        self._tables.create(_table(self._name, _FILES), iter([frame]))


def release_directory(place: str) -> Path:
    """Read a release of a database into a directory, which is gone when the program ends."""
    database, url, name = _found(place)
    where = shown(place)
    files = database.fetch(url, _table(name, _FILES))
    if files.columns != ["file", "content"]:
        raise SourceError(f"{where} is no release: the table of its files is another one.")
    texts = dict(files.iter_rows())
    directory = Path(tempfile.mkdtemp(prefix="incrowd-release-"))  # only its owner may look into it
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    try:
        tables = json.loads(texts.pop(_TABLES))
        for table in tables:
            database.fetch(url, _table(name, table)).write_parquet(directory / f"{Path(table).name}.parquet")
        for file, content in texts.items():
            (directory / Path(file).name).write_text(content, encoding="utf-8", newline="\n")
    except (KeyError, ValueError, TypeError):
        raise SourceError(f"{where} is no release: what is said of its tables is damaged.") from None
    return directory


def _found(place: str) -> tuple[Database, str, str]:
    url, _, name = place.partition("#")
    return DATABASES[url.partition("://")[0].lower()], url, unquote(name) or _DEFAULT


def _table(name: str, table: str) -> str:
    return name if table == _DATA else f"{name}_{table}"


def _make_room(tables: Tables, name: str, where: str, *, force: bool) -> None:
    files = _table(name, _FILES)
    if not tables.has(files):
        if tables.has(name):
            raise OutputError(f"{where} is a table that is no release; it is not replaced.  Hint: choose another name.")
        return
    if not force:
        raise OutputError(f"{where} exists already.  Hint: choose another name, or replace it with force (--force).")
    try:
        made = json.loads(tables.texts(files)[_TABLES])
    except (KeyError, ValueError):
        raise OutputError(f"{where} is not a release that can be replaced.  Hint: choose another name.") from None
    for table in (*made, _FILES):
        if tables.has(_table(name, str(table))):
            tables.drop(_table(name, str(table)))

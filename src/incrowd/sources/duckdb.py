"""DuckDB: a table of a database file, or what a query returns. Nothing is written, and nothing else is read."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from incrowd.common.extras import needing_extra
from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.core.source import Location, OpenedTable, ReadOptions, Source
from incrowd.errors import SourceError
from incrowd.sources.normalize import opened_file, refuse_duplicates, require_readable_name
from incrowd.sources.sql import statement
from incrowd.sources.stamps import watch

PREFIX = "duckdb:///"
# A query must not read other files, nor write any, nor fetch code.
_CLOSED: dict[str, Any] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
_MAGIC, _MAGIC_AT = b"DUCK", 8
_PLAIN = re.compile(
    r"(BOOLEAN|U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL\(.*\)|VARCHAR|DATE|TIME(_NS)?|TIMESTAMP.*|UUID|ENUM\(.*\))"
    r"(\[\d*\])?"
)


@dataclass(frozen=True)
class DuckdbFile(Source):
    """A table, or the answer to a query, of a DuckDB file."""

    name: ClassVar[str] = "duckdb"
    accepts: ClassVar[str] = "the path of a DuckDB file, or duckdb:/// and its path, with a query"
    suffixes: ClassVar[tuple[str, ...]] = (".duckdb", ".ddb")
    schemes: ClassVar[tuple[str, ...]] = ("duckdb",)

    def recognizes(self, location: Location) -> bool:
        """By the first bytes, or as a URL."""
        return location.head[_MAGIC_AT:].startswith(_MAGIC) or location.scheme in self.schemes

    def open(self, location: Location, options: ReadOptions) -> OpenedTable:
        """Run the query."""
        path = location.path or path_of(str(location.given))
        options.refuse_all_but(("query",), f"{path}: this is a database")
        require_readable_name(path)
        unchanged = watch(path)
        frame, query = fetch(path, options.query)
        opened = opened_file(frame.lazy(), path, options, in_memory=True, found={"query": query}, unchanged=unchanged)
        return replace(opened, native="sql", found_out=() if options.query else ("query",))


@dataclass(frozen=True)
class ArrowStream:
    """Rows as Arrow's stream and nothing else: Polars remembers classes, and DuckDB complains of that at the end."""

    rows: Any

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.rows.__arrow_c_stream__(requested_schema)


def path_of(url: str) -> Path:
    """Return the file that `duckdb:///relative.db` or `duckdb:////absolute.db` names."""
    name = url[len(PREFIX) :]
    if not url.lower().startswith(PREFIX) or not name:
        raise SourceError("a DuckDB URL is 'duckdb:///relative.db' or 'duckdb:////absolute/path.db'.")
    if not Path(name).is_file():
        raise SourceError(f"{name}: there is no such DuckDB database.")
    return Path(name)


def fetch(path: Path, query: str | None) -> tuple[pl.DataFrame, str]:
    """Return what a query returns, and the query; the only table there is where none is asked for."""
    with needing_extra("duckdb", "DuckDB files"):
        import duckdb

    where = str(path)
    try:
        connection = duckdb.connect(where, read_only=True, config=_CLOSED)
    except duckdb.Error as error:
        locked = isinstance(error, duckdb.IOException) and "lock" in str(error)
        why = "it is in use by another program." if locked else "it is damaged, or of another version."
        raise SourceError(f"{where}: the DuckDB file cannot be opened.  Hint: {why}") from None
    with connection:
        connection.execute("SET lock_configuration = true")
        asked = query or _only_table(connection, where)
        try:
            # As part of another query it can be nothing but a query.
            answer = connection.sql(f"SELECT * FROM ({statement(asked, where)}\n) AS answer")
            _require_plain(answer, where)
            return pl.DataFrame(ArrowStream(answer)), asked
        except duckdb.Error as error:
            raise SourceError(f"{where}: {_explain(error, duckdb)}") from None


def _only_table(connection: Any, where: str) -> str:
    found = connection.execute("SELECT table_name FROM information_schema.tables ORDER BY 1").fetchall()
    names = [str(row[0]) for row in found]
    if len(names) == 1:
        return f'SELECT * FROM "{names[0].replace(chr(34), chr(34) * 2)}"'
    listed = ", ".join(f"'{name}'" for name in names) or "none"
    raise SourceError(
        f"{where}: say which table to read with {option('query', section='source')}; there are: {listed}."
    )


def _require_plain(answer: Any, where: str) -> None:
    """Refuse what Polars has no type for; it would not raise, but panic."""
    refuse_duplicates(answer.columns, "the query's result")
    for name, kind in zip(answer.columns, map(str, answer.types), strict=True):
        if not _PLAIN.fullmatch(kind):
            raise SourceError(
                f"{where}: column '{name}' is of the type {kind.partition('(')[0]}, which cannot be read.  "
                "Hint: cast it to text or to a number in the query, or leave it out."
            )


def _explain(error: Exception, duckdb: Any) -> str:
    """Return what went wrong; what DuckDB says while it reads rows may quote a cell."""
    if isinstance(error, (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)):
        return f"{str(error).splitlines()[0]}  Hint: it must be one SELECT, or the name of a table."
    if isinstance(error, duckdb.PermissionException):
        return "a query may only read this database."
    return "the query fails on the data it reads."

"""PostgreSQL through ADBC, which hands over Arrow instead of one Python object for each cell."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from incrowd.common.extras import require_extra
from incrowd.common.records import dataclass
from incrowd.core.source import Location, OpenedTable, ReadOptions, Source
from incrowd.errors import SourceError
from incrowd.sources.arrow import from_arrow
from incrowd.sources.sql import open_query

if TYPE_CHECKING:
    import pyarrow as pa

_HINT = "cast it to text or to a number in the query, or leave it out."
# What fails before any cell is read can be told, and so can these classes: access, resources, the server's state.
_SYNTAX_ERROR = "42601"
_HARMLESS_CLASSES = ("08", "25", "28", "42501", "53", "57")
# What the server says when it goes down or ends a session, and what libpq says when it is gone.
_LOST_CLASSES = ("08", "57P")
_LOST_WORDS = (
    "server closed the connection",
    "could not receive data from server",
    "could not send data to server",
    "SSL connection has been closed",
    "no connection to the server",
)
_TYPE = b"POSTGRESQL:type"


@dataclass(frozen=True)
class PostgresqlDatabase(Source):
    """What a query on a PostgreSQL database returns."""

    name: ClassVar[str] = "postgresql"
    accepts: ClassVar[str] = "the URL of a PostgreSQL database, postgresql://, with a query"
    schemes: ClassVar[tuple[str, ...]] = ("postgresql", "postgres")

    def open(self, location: Location, options: ReadOptions) -> OpenedTable:
        """Run the query."""
        return open_query(location, options, fetch, where="the PostgreSQL database")


def fetch(url: str, query: str, *, where: str) -> pl.DataFrame:
    """Return the result of a query."""
    require_extra("postgresql", "PostgreSQL databases")
    from adbc_driver_postgresql import dbapi

    try:
        connection = dbapi.connect(url, autocommit=True)
    except dbapi.Error as error:
        raise SourceError(f"{where}: no connection{_why_not(str(error), url)}") from None
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute("SET default_transaction_read_only = on")
            # As part of another query it can be nothing but a query: no COPY, which would run programs and write files.
            cursor.execute(f"SELECT * FROM ({query}\n) AS answer")
            table = cursor.fetch_arrow_table()
    except dbapi.Error as error:
        raise SourceError(f"{where}: {_explain(error)}") from None
    if not table.column_names:
        raise SourceError(f"{where}: the query returns no table.  Hint: it must be a SELECT.")
    return _plain(table, where)


def _why_not(message: str, url: str) -> str:
    """Return libpq's reason, unless it repeats a piece of a password that made the URL unreadable."""
    reason = message.partition("Failed to connect: ")[2].strip().splitlines()
    user_info = url.partition("://")[2].rpartition("@")[0]
    secrets = [*re.split(r"[:@/]", user_info)[1:], *re.findall(r"password=([^&]*)", url)]
    if not reason or any(secret and secret in reason[0] for secret in secrets):
        return ".  Hint: check the URL; special characters of a password must be percent-encoded."
    return f": {reason[0]}."


def _explain(error: Exception) -> str:
    state = getattr(error, "sqlstate", None)
    if (state or "").startswith(_LOST_CLASSES) or any(words in str(error) for words in _LOST_WORDS):
        return "the connection to the database was lost before the answer was complete.  Hint: run it again."
    if state is None:
        return f"the result cannot be read.  Hint: where a column is not a plain value, {_HINT}"
    prepared = "Failed to prepare query" not in str(error)
    if prepared and not state.startswith(_HARMLESS_CLASSES):
        return f"the query fails on the data it reads (SQLSTATE {state})."
    first = str(error).partition("ERROR:")[2].strip().splitlines()
    hint = "  Hint: it must be one SELECT." if state == _SYNTAX_ERROR else ""
    return f"{first[0] if first else 'the query fails'} (SQLSTATE {state}).{hint}"


def _plain(table: pa.Table, where: str) -> pl.DataFrame:
    """Return the table in Polars, with PostgreSQL's own types as what they mean."""
    types = {field.name: (field.metadata or {}).get(_TYPE, b"").decode() for field in table.schema}
    money = [name for name, kind in types.items() if kind == "money"]
    if money:
        # It arrives as a number of cents, or whatever a hundredth is where the server stands.
        raise SourceError(f"{where}: column '{money[0]}' is of the type money.  Hint: {_HINT}")
    frame = from_arrow(table, where=where, hint=_HINT)
    for name in frame.columns:
        _refuse_beyond_the_calendar(frame[name], where)
    return frame.with_columns(_meant(frame[name], types[name]) for name in frame.columns)


def _meant(values: pl.Series, kind: str) -> pl.Series:
    nameless = values.alias("")  # Polars takes a name like "^a.*$" for a pattern
    if kind == "numeric":
        return _decimal(nameless).alias(values.name)
    # The type char(n) fills up with spaces that are not part of the value.
    return nameless.str.strip_chars_end(" ").alias(values.name) if kind == "bpchar" else values


def _refuse_beyond_the_calendar(values: pl.Series, where: str) -> None:
    """Refuse PostgreSQL's infinity, and years that no calendar of Python has."""
    if not isinstance(values.dtype, (pl.Date, pl.Datetime)):
        return
    first, last = pl.Series([datetime.min, datetime.max]).cast(values.dtype, strict=False).to_physical()
    if not values.to_physical().is_between(first, last).all():
        raise SourceError(
            f"{where}: column '{values.name}' holds infinity, or a year that is not between 1 and 9999.  "
            f"Hint: make it NULL in the query, or {_HINT}"
        )


def _decimal(digits: pl.Series) -> pl.Series:
    """Return PostgreSQL's numeric, which arrives as text, as numbers, or as the text where they are too long."""
    digits = digits.replace("nan", None)
    places = digits.str.split(".").list.get(1, null_on_oob=True).str.len_bytes()
    most = places.max()
    numbers = digits.cast(pl.Decimal(38, most if isinstance(most, int) else 0), strict=False)
    return numbers if numbers.null_count() == digits.null_count() else digits

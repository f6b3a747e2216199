"""Tables in databases: which database a URL means, what a query may be, and what must not be told about either."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qsl, urlencode

import polars as pl

from incrowd.common.surface import option
from incrowd.core.source import Location, OpenedTable, ReadOptions
from incrowd.errors import SourceError
from incrowd.sources.normalize import opened_answer

_SECRET_PARAMETERS = {"password", "sslpassword"}
_USER_INFO = re.compile(r"^(?P<scheme>\w+://)(?P<user>[^@/:]*)(?P<password>:[^@/]*)?@")


Fetch = Callable[..., pl.DataFrame]
"""Runs a query on the database that a URL names; takes `where`, which messages call the database."""


def open_query(location: Location, options: ReadOptions, fetch: Fetch, *, where: str) -> OpenedTable:
    """Run a query and hold its result in memory; nothing is ever written to the database."""
    options.refuse_all_but(("query",), "this is a database")
    url = str(location.given)
    asked = statement(options.query, where)
    return opened_answer(fetch(url, asked, where=where), without_password(url), options, where=where)


def without_password(url: str) -> str:
    """Return the URL as it may be written down.

    >>> without_password("postgresql://anna:secret@db.example:5432/clinic?sslmode=require")
    'postgresql://anna@db.example:5432/clinic?sslmode=require'
    """
    url = _USER_INFO.sub(r"\g<scheme>\g<user>@", url)
    address, mark, parameters = url.partition("?")
    if not mark:
        return url
    kept = [
        (name, value)
        for name, value in parse_qsl(parameters, keep_blank_values=True)
        if name.lower() not in _SECRET_PARAMETERS
    ]
    return address + (f"?{urlencode(kept)}" if kept else "")


def statement(query: str | None, where: str) -> str:
    """Return the query, or the one that reads a whole table where only its name is given."""
    if query is None or not query.strip():
        raise SourceError(
            f"{where}: say what to read.  Hint: {option('query', 'SELECT …', section='source')}, or "
            f"{option('query')} and the name of a table."
        )
    query = query.strip().rstrip("; \n")
    if re.search(r"[\s()]", query):
        return query
    return "SELECT * FROM " + ".".join(f'"{part.strip(chr(34))}"' for part in query.split("."))

"""Tables in databases: which database a URL means, what a query may be, and what must not be told about either."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import parse_qsl, urlencode

from incrowd.engines.sources.normalize import normalized
from incrowd.engines.sources.source import Source
from incrowd.errors import SourceError

_SECRET_PARAMETERS = {"password", "sslpassword"}
_USER_INFO = re.compile(r"^(?P<scheme>\w+://)(?P<user>[^@/:]*)(?P<password>:[^@/]*)?@")


def is_url(source: str) -> bool:
    """Tell a URL from a path; C:\\data is a path."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", source) is not None


def open_sql(url: str, *, query: str | None, missing: Sequence[str]) -> Source:
    """Run a query and hold its result in memory; nothing is ever written to the database."""
    scheme = url.partition("://")[0].lower()
    if scheme not in ("sqlite", "postgresql", "postgres"):
        raise SourceError(
            f"'{scheme}://' cannot be opened.  Hint: there are 'sqlite:///' and 'postgresql://', and paths to files."
        )
    where = f"the {'SQLite' if scheme == 'sqlite' else 'PostgreSQL'} database"
    statement = _statement(query, where)
    if scheme == "sqlite":
        from incrowd.engines.sources.sqlite import fetch
    else:
        from incrowd.engines.sources.postgresql import fetch
    frame = normalized(fetch(url, statement, where=where).lazy(), missing=missing, where=where)
    description = {
        "url": without_password(url),
        "query": query,
        **({"missing": list(missing)} if missing else {}),
    }
    return Source(frame, tuple(frame.collect_schema().names()), "sql", description, in_memory=True)


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


def _statement(query: str | None, where: str) -> str:
    """Return the query, or the one that reads a whole table where only its name is given."""
    if query is None or not query.strip():
        raise SourceError(f"{where}: say what to read.  Hint: query='SELECT …', or query= and the name of a table.")
    query = query.strip().rstrip("; \n")
    if re.search(r"[\s()]", query):
        return query
    return "SELECT * FROM " + ".".join(f'"{part.strip(chr(34))}"' for part in query.split("."))

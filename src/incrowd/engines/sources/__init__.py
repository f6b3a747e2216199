"""The door through which every table enters: files, databases and frames, opened, checked and normalized.

>>> import polars as pl
>>> source = open_source(pl.DataFrame({"age": [34.0, float("nan")]}))
>>> source.columns, source.frame.collect()["age"].to_list()
(('age',), [34.0, None])
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from incrowd.engines.sources.files import open_file, refuse_keywords
from incrowd.engines.sources.frames import open_frame
from incrowd.engines.sources.reading import reading
from incrowd.engines.sources.source import Native, Source
from incrowd.engines.sources.sql import is_url, open_sql
from incrowd.errors import SourceError

__all__ = ["Native", "Source", "open_source", "reading"]


def open_source(
    source: object,
    *,
    query: str | None = None,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] = (),
) -> Source:
    """Open a table; raises `SourceError` where it cannot be read, without quoting what is in it.

    `source` is a path (CSV, also as .csv.gz; Parquet: a file, a folder or a pattern; Arrow), the URL of a database
    (`sqlite:///` or `postgresql://`, with `query`: a SELECT or a table's name), or a Polars, pandas or PyArrow frame.
    `separator`, `quote` (empty: no field is quoted) and `encoding` are found out if they are not stated. Texts that are
    listed in `missing`, for example "?" or "NA", are null. Rows are read when the frame is collected, except those of
    a database, and those of a CSV file that is compressed, not in UTF-8, or oddly quoted, which come into memory now.
    """
    missing = _words(missing)
    dialect = {"separator": separator, "quote": quote, "encoding": encoding}
    if isinstance(source, str) and is_url(source):
        refuse_keywords(dialect, "this is a database")
        return open_sql(source, query=query, missing=missing)
    if isinstance(source, (str, PathLike)):
        refuse_keywords({"query": query}, f"{source}: this is a file")
        try:
            return open_file(Path(source), separator=separator, quote=quote, encoding=encoding, missing=missing)
        except OSError as error:
            raise SourceError(f"{source}: the file cannot be read ({error.strerror}).") from None
    refuse_keywords({"query": query, **dialect}, "this is a frame")
    return open_frame(source, missing=missing)


def _words(missing: Sequence[str]) -> tuple[str, ...]:
    # A text is a sequence of texts too, and "NA" would become "N" and "A".
    if isinstance(missing, str) or not all(isinstance(word, str) for word in missing):
        raise SourceError("missing= takes a list of texts, for example missing=['?', 'NA'].")
    return tuple(missing)

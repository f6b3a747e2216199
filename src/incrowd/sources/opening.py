"""Find out what kind of source a table is in, and open it.

A file is told by its first bytes before its name; anything that is not known to be something else is CSV.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Unpack

from incrowd.core.families import registered
from incrowd.core.source import Location, OpenedTable, Reading, ReadOptions, Source
from incrowd.errors import SourceError
from incrowd.sources.binary import LOOKED_AT, kind_of
from incrowd.sources.normalize import require_readable_name
from incrowd.sources.piped import PIPE, is_pipe, piped

_SPELT = {"spss": "SPSS", "sas": "SAS", "duckdb": "DuckDB"}


def open_source(
    source: object,
    **keywords: Unpack[Reading],
) -> OpenedTable:
    """Open a table; raises `SourceError` where it cannot be read, without quoting what is in it.

    `source` is a path (CSV, also compressed; Parquet; Arrow; Excel; SPSS, Stata, SAS; DuckDB; a folder or a pattern of
    such files), `-` for what is piped in, the URL of a database (`sqlite:///` or `postgresql://`, with `query`: a
    SELECT or a table's name) or of an object store (`s3://`), or a Polars, pandas or PyArrow frame; plugins may add
    others. The keywords are those of `ReadOptions`. Rows are read when the frame is collected, except those of a
    database, of Excel and of statistics programs, and those of a CSV file that is compressed, not in UTF-8, or oddly
    quoted, which come into memory now.
    """
    return open_table(source, ReadOptions.of(keywords))


def open_table(given: object, options: ReadOptions) -> OpenedTable:
    """Open a table with whatever kind of source recognizes it; one that is open already is returned."""
    if isinstance(given, OpenedTable):
        options.refuse_all("this table is open already")
        return given
    location = locate(given)
    with _told_of(given):
        opened = kind_of_source(location, options).open(location, options)
    told: dict[str, object] = {"exact_text": True} if options.exact_text else {}
    if is_pipe(given):
        told["path"] = PIPE
    return replace(opened, texts=options.texts, description={**opened.description, **told})


def kind_of_source(location: Location, options: ReadOptions) -> Source:
    """Return the kind of source that opens a location; raises `SourceError` where none does."""
    kinds: list[Source] = [kind() for kind in registered("sources").values()]
    found = next((kind for kind in kinds if not kind.fallback and kind.recognizes(location)), None)
    if found is not None:
        return found
    _refuse_what_is_no_table(location, kinds, encoded=options.encoding is not None)
    return next(kind for kind in kinds if kind.fallback and kind.recognizes(location))


def locate(given: object) -> Location:
    """Tell what can be told of a place without opening it."""
    if isinstance(given, str) and (url := re.match(r"([A-Za-z][A-Za-z0-9+.-]+)://", given)):  # C:\\data is a path
        return Location(given, scheme=url[1].lower())
    if not isinstance(given, (str, PathLike)):
        return Location(given)
    with _told_of(given):
        path = piped() if is_pipe(given) else Path(given)
        if path.is_dir() or (glob.has_magic(str(path)) and not path.exists()):
            return Location(given, path)
        if not path.exists():
            raise SourceError(f"{path}: there is no such file.")
        if not path.is_file():
            raise SourceError(
                f"{path}: this is not an ordinary file.  Hint: copy it to one; it is read more than once."
            )
        require_readable_name(path)
        with path.open("rb") as file:
            return Location(given, path, head=file.read(16))


@contextmanager
def _told_of(given: object) -> Iterator[None]:
    """Say of which file it is that the system lets nobody read it."""
    try:
        yield
    except OSError as error:
        raise SourceError(f"{given}: the file cannot be read ({error.strerror}).") from None


def _refuse_what_is_no_table(location: Location, kinds: Sequence[Source], *, encoded: bool) -> None:
    """Refuse what no kind of source takes; where an encoding is stated, any bytes may be text."""
    if location.scheme:
        accepted = "; ".join(kind.accepts for kind in kinds if kind.schemes)
        raise SourceError(f"'{location.scheme}://' cannot be opened.  Hint: give {accepted}; or the path of a file.")
    given = type(location.given)
    if location.path is None and given.__module__.partition(".")[0] == "incrowd":
        instead = "its `data`" if hasattr(given, "data") else "what it was read from"
        raise SourceError(f"this is incrowd's own {given.__name__}, and not a file or a frame.  Hint: give {instead}.")
    if location.path is None:
        accepted = "; ".join(kind.accepts for kind in kinds)
        raise SourceError(f"a {given.__name__} is not a table that can be opened.  Hint: give one of: {accepted}.")
    kind = kind_of(_longer_head(location.path)) if location.path.is_file() else None
    if kind and not (encoded and "binary" in kind):
        raise SourceError(f"{location.path}: the file is {kind}")
    named = next((kind for kind in kinds if not kind.fallback and location.suffix in kind.suffixes), None)
    if named is not None:
        raise SourceError(
            f"{location.path}: by its name the file is {_SPELT.get(named.name, named.name.capitalize())}, "
            "but it does not begin like one."
        )


def _longer_head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LOOKED_AT)

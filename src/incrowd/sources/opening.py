"""Find out what kind of source a table is in, and open it.

A file is told by its first bytes before its name; anything that is not known to be something else is CSV.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

from incrowd.core.families import registered
from incrowd.core.source import Location, OpenedTable, ReadOptions, Source
from incrowd.errors import SourceError
from incrowd.sources.normalize import require_readable_name

_NOT_TABLES = {
    b"PK\x03\x04": "a ZIP archive or an Excel workbook.  Hint: unpack it, or save the sheet as CSV.",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook.  Hint: save the sheet as CSV.",
    b"SQLite format 3\0": "an SQLite database.  Hint: open 'sqlite:///' followed by the path, with a query.",
    b"\x28\xb5\x2f\xfd": "compressed with Zstandard.  Hint: decompress it, or use gzip.",
    b"BZh91AY&SY": "compressed with bzip2.  Hint: decompress it, or use gzip.",
    b"%PDF": "a PDF document.",
}


def open_source(
    source: object,
    *,
    query: str | None = None,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] = (),
    exact_text: bool = False,
    header: bool | Sequence[str] | None = None,
    decimal: str | None = None,
    written: Mapping[str, str] | str | None = None,
) -> OpenedTable:
    """Open a table; raises `SourceError` where it cannot be read, without quoting what is in it.

    `source` is a path (CSV, also as .csv.gz; Parquet: a file, a folder or a pattern; Arrow), the URL of a database
    (`sqlite:///` or `postgresql://`, with `query`: a SELECT or a table's name), or a Polars, pandas or PyArrow frame;
    plugins may add others. The keywords are those of `ReadOptions`. Rows are read when the frame is collected, except
    those of a database, and those of a CSV file that is compressed, not in UTF-8, or oddly quoted, which come into
    memory now.
    """
    cells = {"header": header, "decimal": decimal, "written": written}
    return open_table(source, ReadOptions(query, separator, quote, encoding, missing, exact_text, **cells))  # type: ignore[arg-type]


def open_table(given: object, options: ReadOptions) -> OpenedTable:
    """Open a table with whatever kind of source recognizes it; one that is open already is returned."""
    if isinstance(given, OpenedTable):
        options.refuse_all("this table is open already")
        return given
    kinds: list[Source] = [kind() for kind in registered("sources").values()]
    try:
        location = locate(given)
        found = next((kind for kind in kinds if not kind.fallback and kind.recognizes(location)), None)
        if found is None:
            _refuse_what_is_no_table(location, kinds)
            found = next(kind for kind in kinds if kind.fallback and kind.recognizes(location))
        opened = found.open(location, options)
    except OSError as error:
        raise SourceError(f"{given}: the file cannot be read ({error.strerror}).") from None
    told = {"exact_text": True} if options.exact_text else {}
    return replace(opened, texts=options.texts, description={**opened.description, **told})


def locate(given: object) -> Location:
    """Tell what can be told of a place without opening it."""
    if isinstance(given, str) and (url := re.match(r"([A-Za-z][A-Za-z0-9+.-]+)://", given)):  # C:\\data is a path
        return Location(given, scheme=url[1].lower())
    if not isinstance(given, (str, PathLike)):
        return Location(given)
    path = Path(given)
    if path.is_dir() or (glob.has_magic(str(path)) and not path.exists()):
        return Location(given, path)
    if not path.exists():
        raise SourceError(f"{path}: there is no such file.")
    if not path.is_file():
        raise SourceError(f"{path}: this is not an ordinary file.  Hint: copy it to one; it is read more than once.")
    require_readable_name(path)
    with path.open("rb") as file:
        return Location(given, path, head=file.read(16))


def _refuse_what_is_no_table(location: Location, kinds: Sequence[Source]) -> None:
    if location.scheme:
        accepted = "; ".join(kind.accepts for kind in kinds if kind.schemes)
        raise SourceError(f"'{location.scheme}://' cannot be opened.  Hint: give {accepted}; or the path of a file.")
    if location.path is None:
        accepted = "; ".join(kind.accepts for kind in kinds)
        raise SourceError(
            f"a {type(location.given).__name__} is not a table that can be opened.  Hint: give one of: {accepted}."
        )
    kind = next((text for magic, text in _NOT_TABLES.items() if location.head.startswith(magic)), None)
    if kind:
        raise SourceError(f"{location.path}: the file is {kind}")
    named = next((kind for kind in kinds if not kind.fallback and location.suffix in kind.suffixes), None)
    if named is not None:
        raise SourceError(
            f"{location.path}: by its name the file is {named.name.capitalize()}, but it does not begin like one."
        )

"""A CSV file as private methods read it: line by line, by what is stated and by its header, never by what a row holds.

Every line is a row of its own. Its fields are cut at the separator, and spaces around them are dropped; a field in
quotes may hold the separator. A line with another number of fields than the header, or with a quote that it does not
close, is a row of which nothing is known: all its values are missing. Bytes that the encoding does not have become one
sign that no declared value holds. So one row more, however it is written, is one row more, and changes no other.

The separator, where it is not stated, is the one that cuts the header into most names: the header is nobody's row.
Cost: about twice that of reading the file otherwise.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path

import polars as pl

from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.core.source import OpenedTable, ReadOptions
from incrowd.errors import EmptyTable, SourceError
from incrowd.sources.content import Content, load
from incrowd.sources.dialect import NOTHING, SEPARATORS, Dialect
from incrowd.sources.encoding import marked_encoding, stated_encoding
from incrowd.sources.header import AFTER_LAST, ROW_NUMBERS, named_columns
from incrowd.sources.normalize import null_where, opened_file
from incrowd.sources.plain_lines import PlainLines
from incrowd.sources.stamps import watch
from incrowd.sources.ways_of_writing import as_read, respelled
from incrowd.sources.written import require_columns, stated_way

_QUOTE, _ENCODING = '"', "utf-8"
_LINE = "\0line"
_LONGEST_HEADER = 1 << 22


@dataclass(frozen=True)
class Beginning:
    """What the file tells before its first row."""

    names: tuple[str, ...]
    separator: str
    lines: int
    """How many lines come before the first row."""
    offset: int
    """How many bytes these are."""


def open_as_stated(path: Path, options: ReadOptions) -> OpenedTable:
    """Open a file so that no row changes how another one is read."""
    where, unchanged = str(path), watch(path)
    content, encoding = _as_utf8(load(path), options.encoding, where)
    quote = stated_quote(options)
    beginning = read_beginning(content, options, where)
    told: dict[str, object] = {"quote": quote, "encoding": encoding, "separator": beginning.separator}
    frame = _rows(content, beginning, quote)
    opened = opened_file(frame, path, options, in_memory=content.in_memory, found=told, unchanged=unchanged)
    opened = _without_unnamed(opened)
    ways = options.written if isinstance(options.written, Mapping) else {}
    require_columns(ways, opened.columns, where)
    written = {name: stated_way(name, way, where) for name, way in ways.items()}
    described = {**opened.description, **options.cells}
    opened = replace(opened, frame=respelled(opened.frame, written), description=described)
    if not _are_plain(content, beginning, quote):
        return opened
    lines = PlainLines(content, beginning.offset, beginning.separator, beginning.names, by_itself=True)
    return replace(opened, faster=(opened.frame, replace(lines, as_read=partial(as_read, options.missing, written))))


def _without_unnamed(opened: OpenedTable) -> OpenedTable:
    columns = tuple(name for name in opened.columns if name not in (ROW_NUMBERS, AFTER_LAST))
    return replace(opened, frame=opened.frame.select(columns), columns=columns)


def _as_utf8(content: Content, stated: str | None, where: str) -> tuple[Content, str]:
    """Return the content in UTF-8, and the encoding it had: stated, told by a mark, or UTF-8."""
    encoding = stated_encoding(stated, where) if stated else marked_encoding(content) or _ENCODING
    if encoding in ("utf-8", "utf-8-sig", "ascii"):
        return content, "utf-8"
    text = content.whole(where).decode(encoding, errors="replace")
    return Content.of(text.removeprefix("\ufeff").encode(errors="replace")), encoding


def stated_quote(options: ReadOptions) -> str:
    """Return the quote of a file: the usual one, where none is stated."""
    return _QUOTE if options.quote is None else options.quote


def read_beginning(content: Content, options: ReadOptions, where: str) -> Beginning:
    """Return what the header tells, or what is stated in its place."""
    quote = stated_quote(options)
    if options.header is False:
        named = option("header", ["age", "sex", "…"], section="source", typed="age,sex,…")
        raise SourceError(
            f"{where}: how many columns there are must not be found out from a row here.  Hint: {named} names them."
        )
    if options.header is not None and options.header is not True:
        return Beginning(tuple(options.header), options.separator or ",", 0, 0)
    with BytesIO(content.head(_LONGEST_HEADER)) as file:
        offset = 0
        for number, raw in enumerate(file, start=1):
            offset += len(raw)
            line = raw.removeprefix(codecs.BOM_UTF8).decode(errors="replace").rstrip("\r\n")
            if line.strip():
                separator = options.separator or _best_separator(line, quote)
                names = named_columns([name.strip() for name in _cut(line, separator, quote)], where)
                return Beginning(tuple(names), separator, number, offset)
    raise EmptyTable(f"{where}: the file holds nothing but blank lines.")


def _best_separator(header: str, quote: str) -> str:
    """Return what cuts a header into most names; a file of one column has no separator."""
    best = max(SEPARATORS, key=lambda separator: len(_cut(header, separator, quote)))
    return best if len(_cut(header, best, quote)) > 1 else NOTHING


def _cut(line: str, separator: str, quote: str) -> list[str]:
    reader = Dialect(separator, quote or None, padded=True).reader([line])
    try:
        return next(iter(reader), [])
    except csv.Error:
        return line.split(separator)


def _rows(content: Content, beginning: Beginning, quote: str) -> pl.LazyFrame:
    separator = beginning.separator
    lines = pl.scan_csv(
        content.target,
        has_header=False,
        skip_lines=beginning.lines,
        schema={_LINE: pl.String},
        separator=_ends_a_line(separator),
        quote_char=None,
        encoding="utf8-lossy",
        truncate_ragged_lines=True,
        raise_if_empty=False,
        glob=False,
    )
    # Whether any line has a quote decides how much work there is, and nothing of what comes out.
    return cut_lines(lines, beginning, quote if quote and _holds(content, quote) else "")


def _are_plain(content: Content, beginning: Beginning, quote: str) -> bool:
    """Tell whether the rows may be counted from the lines, which changes nothing of what comes out."""
    odd = (_ends_a_line(beginning.separator), *([quote] if quote else []))
    return beginning.offset > 0 and not any(_holds(content, one) for one in odd)


def _ends_a_line(separator: str) -> str:
    """Return what Polars takes for a separator of lines that are read as a whole: what follows it is lost."""
    return "\x1e" if separator == NOTHING else NOTHING


def cut_lines(lines: pl.LazyFrame, beginning: Beginning, quote: str) -> pl.LazyFrame:
    """Return the rows of lines, the frame's only column: each line by itself, blank ones left out."""
    names, separator = beginning.names, beginning.separator
    line = pl.first().str.strip_suffix("\r")
    lines = lines.select(line.alias(_LINE)).filter(pl.col(_LINE).str.strip_chars(" ") != "")
    found = lines.select((_quoted_fields(separator, quote) if quote else _plain_fields(separator)).alias(_LINE))
    whole = pl.col(_LINE).list.len() == len(names)
    cells = [
        pl.when(whole).then(pl.col(_LINE).list.get(place, null_on_oob=True)).alias(name)
        for place, name in enumerate(names)
    ]
    return null_where(found.select(cells), [""])


def _plain_fields(separator: str) -> pl.Expr:
    return pl.col(_LINE).str.split(separator).list.eval(pl.element().str.strip_chars(" "))


def _quoted_fields(separator: str, quote: str) -> pl.Expr:
    """Return the fields of a line that may hold quotes; none where they do not make up the line."""
    cut, mark = re.escape(separator), re.escape(quote)
    in_quotes = f" *{mark}(?:[^{mark}]|{mark}{mark})*{mark} *"
    pattern = f"{cut}(?:{in_quotes}|(?: *[^{mark}{cut} ][^{cut}]*| *))"
    line = pl.lit(separator) + pl.col(_LINE)
    found = line.str.extract_all(pattern)
    text = pl.element().str.slice(1).str.strip_chars(" ")
    inside = text.str.strip_prefix(quote).str.strip_suffix(quote).str.replace_all(quote * 2, quote, literal=True)
    fields = found.list.eval(pl.when(text.str.starts_with(quote)).then(inside).otherwise(text))
    return pl.when(found.list.join("") == line).then(fields)


def _holds(content: Content, quote: str) -> bool:
    return any(quote.encode() in piece for _, piece in content.pieces())

"""CSV and its relatives: found out, checked, and then read lazily by Polars.

Every column is text: '007' and '1.50' stay what they are, and the schema decides what is a number. Numbers and dates
that are written in a national way are spelled anew (`ways_of_writing.py`). An empty field is null, whether it is quoted
or not. A line that is blank is no row. Whatever Polars would mend in silence (a short line, a name that occurs twice, a
zero byte) is an error here, which says where and quotes no value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar, cast

import polars as pl
import polars.selectors as cs

from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.core.source import Location, OpenedTable, ReadOptions, Source
from incrowd.errors import SourceError
from incrowd.sources import unusual
from incrowd.sources.content import Content, line_of, load
from incrowd.sources.dialect import NOTHING, Dialect, detect
from incrowd.sources.encoding import as_utf8
from incrowd.sources.faults import LONE_RETURN, ragged
from incrowd.sources.header import AFTER_LAST, ROW_NUMBERS, Header, read_header
from incrowd.sources.lines import Layout, examine
from incrowd.sources.normalize import null_where, opened_file
from incrowd.sources.plain_lines import PlainLines
from incrowd.sources.quotes import open_fields
from incrowd.sources.reading import reading
from incrowd.sources.stamps import watch
from incrowd.sources.stated_csv import open_as_stated
from incrowd.sources.ways_of_writing import as_read, find_ways, respelled
from incrowd.sources.written import Decimal, Written, require_columns, stated_way

# No header can hold this name: a zero byte in a file is an error.
_ROW = "\0row"
_UTF16_SHARE = 0.4
_BINARY_SHARE = 0.05
_FIRST_PRINTED = ord(" ")
NO_NAME = (
    "the first column has no name: it is taken for row numbers, as pandas and R write them, and left out. Name it "
    "to keep it."
)


@dataclass(frozen=True)
class CsvFile(Source):
    """Text with one row a line; also compressed with gzip."""

    name: ClassVar[str] = "csv"
    fallback: ClassVar[bool] = True
    accepts: ClassVar[str] = "the path of a CSV file"
    suffixes: ClassVar[tuple[str, ...]] = (".csv", ".tsv", ".txt")

    def recognizes(self, location: Location) -> bool:
        """Take any file that nothing else takes."""
        return location.path is not None

    def open(self, location: Location, options: ReadOptions) -> OpenedTable:
        """Find out how the file is written, check it, and scan it."""
        path = location.path
        assert path is not None
        options.refuse_all_but((*options.dialect, "header", "decimal", "written"), f"{path}: this is a file")
        if options.only_stated:
            return open_as_stated(path, options)
        unchanged = watch(path)
        text = open_csv(path, **options.dialect, header=options.header)
        opened = opened_file(
            text.frame, path, options, in_memory=text.in_memory, found=text.dialect, unchanged=unchanged
        )
        read, ways = with_ways_of_writing(opened, options, commas=text.commas)
        reader = partial(as_read, options.missing, ways)
        faster = None if text.lines is None else (read.frame, replace(text.lines, as_read=reader))
        return replace(read, stated=partial(_again_as_stated, read, path, options), faster=faster)


def _again_as_stated(opened: OpenedTable, path: Path, options: ReadOptions) -> OpenedTable:
    """Open the file of a table again, unless it is another one by now."""
    opened.require_unchanged()
    return replace(open_as_stated(path, options), notes=opened.notes, texts=opened.texts)


@dataclass(frozen=True)
class TextTable:
    """The rows of a text file, its dialect in the words of `open_source`, and whether the rows are in memory."""

    frame: pl.LazyFrame
    dialect: dict[str, object]
    in_memory: bool
    commas: bool
    """Whether a cell may hold a comma."""
    lines: PlainLines | None
    """The lines that they are, where these are plain."""


def open_csv(
    path: Path,
    *,
    separator: str | None,
    quote: str | None,
    encoding: str | None,
    header: bool | Sequence[str] | None = None,
) -> TextTable:
    """Find out the dialect, check every line, and return the rows as they are written."""
    where = str(path)
    text = as_utf8(load(path), stated=encoding, where=where)
    content = text.content
    if text.zero is not None:
        raise SourceError(_zero_byte(content, text.zero, where))
    dialect = detect(content, separator=separator, quote=quote, where=where)
    names = read_header(content, dialect, where=where, stated=header)
    found: dict[str, object] = {"quote": dialect.quote or "", "encoding": text.encoding}
    if dialect.separator != NOTHING:
        found["separator"] = dialect.separator
    return _rows(content, dialect, names, found, where)


def _rows(content: Content, dialect: Dialect, header: Header, found: dict[str, object], where: str) -> TextTable:
    layout = examine(content, header.offset, dialect, len(header.names))
    if not layout.regular:
        if open_fields(content, dialect, header.offset):
            body = content.whole(where)[header.offset :]
            rows = null_where(unusual.read(body, dialect, header, where=where).lazy(), [""])
            return TextTable(rows, found, in_memory=True, commas=True, lines=None)
        dialect = replace(dialect, quote=None)
        layout = examine(content, header.offset, dialect, len(header.names))
    if layout.ragged:
        first = [(line_of(content, start), fields) for start, fields in layout.ragged]
        raise SourceError(ragged(where, len(header.names), layout.total_ragged, first))
    if layout.lost_return is not None:
        raise SourceError(f"{where}: line {line_of(content, layout.lost_return)} {LONE_RETURN}")
    frame = _scan(content, dialect, header, layout)
    if dialect.padded:
        frame = frame.with_columns(cs.string().str.strip_chars_start(" "))
    if layout.quoted or dialect.padded:
        # Polars itself takes only unquoted empty fields for null.
        frame = null_where(frame, [""])
    commas = layout.quoted if dialect.separator == "," else layout.commas
    return TextTable(frame, found, content.in_memory, commas, _plain_lines(content, dialect, header, layout))


def _plain_lines(content: Content, dialect: Dialect, header: Header, layout: Layout) -> PlainLines | None:
    if layout.quoted or layout.blank or dialect.padded or not header.offset:
        return None
    return PlainLines(content, header.offset, dialect.separator, header.names)


def _scan(content: Content, dialect: Dialect, header: Header, layout: Layout) -> pl.LazyFrame:
    frame = pl.scan_csv(
        content.target,
        has_header=False,
        skip_lines=header.lines,
        schema=dict.fromkeys(header.names, pl.String),
        separator=dialect.separator,
        quote_char=dialect.quote if layout.quoted else None,
        row_index_name=_ROW if layout.blank else None,
        raise_if_empty=False,
        glob=False,
    )
    # By its number: a row whose fields are all empty is a row, though to Polars it looks like a blank line.
    return frame.filter(~pl.col(_ROW).is_in(layout.blank)).drop(_ROW) if layout.blank else frame


def with_ways_of_writing(
    opened: OpenedTable, options: ReadOptions, *, commas: bool
) -> tuple[OpenedTable, Mapping[str, Written]]:
    """Return the table without columns that have no name, with one spelling for numbers and dates, and their ways.

    Ways of writing that are stated are applied as they are. Others are found out.
    """
    where = str(opened.description["path"])
    opened = _without_unnamed(opened, where)
    told = options.written if isinstance(options.written, Mapping) else {}
    require_columns(told, opened.columns, where)
    ways = {name: stated_way(name, way, where) for name, way in told.items()}
    described = {**opened.description, **options.cells}
    stated = replace(opened, frame=respelled(opened.frame, ways), description=described)
    if options.written == "plain":
        return stated, ways
    with reading(opened):
        others = opened.frame.drop(list(ways))
        separator = str(opened.description.get("separator", ""))
        decimal = cast("Decimal | None", options.decimal)
        found = find_ways(others, decimal=decimal, separator=separator, may_hold_commas=commas, where=where)
    notes = (*opened.notes, *found.notes)
    if not found.written:
        return replace(stated, notes=notes), ways
    ways = {**ways, **found.written}
    said = {name: way.says for name, way in ways.items()}
    frame = respelled(opened.frame, ways)
    return replace(opened, frame=frame, description={**described, "written": said}, notes=notes), ways


def _without_unnamed(opened: OpenedTable, where: str) -> OpenedTable:
    """Leave out row numbers in front, and a column without any value behind the last separator."""
    if AFTER_LAST in opened.columns:
        with reading(opened):
            filled = opened.frame.select(pl.col(AFTER_LAST).is_not_null().any()).collect(engine="streaming").item()
        if filled:
            raise SourceError(
                f"{where}: the header has no name for column {len(opened.columns)}.  Hint: name every column."
            )
    unnamed = [name for name in (ROW_NUMBERS, AFTER_LAST) if name in opened.columns]
    if not unnamed:
        return opened
    columns = tuple(name for name in opened.columns if name not in unnamed)
    notes = [NO_NAME] if ROW_NUMBERS in unnamed else []
    return replace(opened, frame=opened.frame.drop(unnamed), columns=columns, notes=(*opened.notes, *notes))


def _zero_byte(content: Content, at: int, where: str) -> str:
    head = content.head(1000)
    if _looks_like_utf16(head):
        ways = " or ".join(option("encoding", name, section="source") for name in ("utf-16-le", "utf-16-be"))
        hint = f"it may be UTF-16 ({ways})."
    elif sum(byte < _FIRST_PRINTED and byte not in b"\t\n\r" for byte in head) > _BINARY_SHARE * len(head):
        return f"{where}: this is a binary file of a kind that is not known.  Hint: save the table as CSV or Parquet."
    else:
        hint = "the file is damaged, or is not text."
    return f"{where}: line {line_of(content, at)} holds a zero byte.  Hint: {hint}"


def _looks_like_utf16(head: bytes) -> bool:
    """Whether almost every second byte is zero, and the others are text."""
    pairs = len(head) // 2
    even, odd = head[: 2 * pairs : 2], head[1 : 2 * pairs : 2]
    zeros, others = (even, odd) if even.count(0) > odd.count(0) else (odd, even)
    printed = sum(byte >= _FIRST_PRINTED or byte in b"\t\n\r" for byte in others)
    return pairs > 0 and zeros.count(0) >= _UTF16_SHARE * pairs and printed >= _UTF16_SHARE * pairs

"""CSV and its relatives: found out, checked, and then read lazily by Polars.

Every column is text: '007' and '1.50' stay what they are, and the schema decides what is a number. An empty field is
null, whether it is quoted or not. A line that is blank is no row. Whatever Polars would mend in silence (a short line,
a name that occurs twice, a zero byte) is an error here, which says where and quotes no value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import polars as pl
import polars.selectors as cs

from incrowd.common.surface import option
from incrowd.core.source import Location, OpenedTable, ReadOptions, Source
from incrowd.errors import SourceError
from incrowd.sources import unusual
from incrowd.sources.content import Content, line_of, load
from incrowd.sources.dialect import NOTHING, Dialect, detect
from incrowd.sources.encoding import as_utf8
from incrowd.sources.faults import LONE_RETURN, ragged
from incrowd.sources.header import Header, read_header
from incrowd.sources.lines import Layout, examine
from incrowd.sources.normalize import null_where, opened_file
from incrowd.sources.quotes import open_fields
from incrowd.sources.stamps import watch

# No header can hold this name: a zero byte in a file is an error.
_ROW = "\0row"
_UTF16_SHARE = 0.2


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
        options.refuse_all_but(options.dialect, f"{path}: this is a file")
        unchanged = watch(path)
        frame, found, in_memory = open_csv(path, **options.dialect)
        return opened_file(frame, path, options, in_memory=in_memory, found=found, unchanged=unchanged)


def open_csv(
    path: Path, *, separator: str | None, quote: str | None, encoding: str | None
) -> tuple[pl.LazyFrame, dict[str, object], bool]:
    """Return the rows, the dialect in the words of `open_source`, and whether the rows are in memory."""
    where = str(path)
    text = as_utf8(load(path), stated=encoding, where=where)
    content = text.content
    if text.zero is not None:
        raise SourceError(_zero_byte(content, text.zero, where))
    dialect = detect(content, separator=separator, quote=quote, where=where)
    header = read_header(content, dialect, where=where)
    found: dict[str, object] = {"quote": dialect.quote or "", "encoding": text.encoding}
    if dialect.separator != NOTHING:
        found["separator"] = dialect.separator
    frame, in_memory = _rows(content, dialect, header, where)
    return frame, found, in_memory


def _rows(content: Content, dialect: Dialect, header: Header, where: str) -> tuple[pl.LazyFrame, bool]:
    layout = examine(content, header.offset, dialect, len(header.names))
    if not layout.regular:
        if open_fields(content, dialect, header.offset):
            body = content.whole(where)[header.offset :]
            return null_where(unusual.read(body, dialect, header, where=where).lazy(), [""]), True
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
    return frame, content.in_memory


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


def _zero_byte(content: Content, at: int, where: str) -> str:
    head = content.head(1000)
    if head.count(0) > _UTF16_SHARE * len(head):
        ends = " or ".join(option("encoding", f"utf-16-{end}", section="source") for end in ("le", "be"))
        hint = f"it may be UTF-16 ({ends}), or no text at all."
    else:
        hint = "the file is damaged, or is not text."
    return f"{where}: line {line_of(content, at)} holds a zero byte.  Hint: {hint}"

"""The names of a CSV file's columns, and where its rows begin.

Polars renames a column whose name occurs twice and keeps the doubled quotes of a name, so the header is read here.
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import BinaryIO

from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.errors import EmptyTable, SourceError
from incrowd.sources.content import Content
from incrowd.sources.dialect import Dialect, sampled_rows
from incrowd.sources.faults import explain
from incrowd.sources.headless import looks_like_a_row

# No header can hold these names: a zero byte in a file is an error.
ROW_NUMBERS, AFTER_LAST = "\0row numbers", "\0after the last"
_MARK = codecs.BOM_UTF8
# No table has a header, or a first row, of this length; a file without line ends is not to be read as one.
_LONGEST = 1 << 26


@dataclass(frozen=True)
class Header:
    """Names, and how many lines and bytes come before the first row; what has no name is not a column of the table."""

    names: tuple[str, ...]
    lines: int
    offset: int

    @property
    def unnamed(self) -> tuple[str, ...]:
        """Stand-ins for the names of columns that have none: row numbers in front, and what a last separator makes."""
        return tuple(name for name in self.names if name in (ROW_NUMBERS, AFTER_LAST))


@dataclass
class _Lines(Iterator[str]):
    """The lines of the file, one by one, without reading the whole of it."""

    file: BinaryIO
    where: str
    count: int = 0
    offset: int = 0

    def __next__(self) -> str:
        raw = self.file.readline(_LONGEST + 1)
        if not raw:
            raise StopIteration
        if len(raw) > _LONGEST:
            raise SourceError(f"{self.where}: line {self.count + 1} has more than {_LONGEST:,} bytes.")
        line = raw.decode()
        self.offset += len(raw)
        self.count += 1
        return line.removeprefix("\ufeff") if self.count == 1 else line


def read_header(
    content: Content, dialect: Dialect, *, where: str, stated: bool | Sequence[str] | None = None
) -> Header:
    """Read the first record that is not blank, and pass over the blank lines around it.

    With `stated` names, or False, the first record is a row; True says that it holds names; None, that this is to be
    found out: a first record that looks like a row is refused.
    """
    with content.open() as file:
        lines = _Lines(file, where)
        # A name with a space around it cannot be told from one without, and nobody means it.
        names = [name.strip() for name in _first_record(lines, replace(dialect, padded=True), where)]
        if stated is not None and stated is not True:
            return _without_header(content, len(names), stated, where)
        if stated is None and looks_like_a_row(names, sampled_rows(content, dialect)):
            raise SourceError(
                f"{where}: the first line looks like a row, not like names: is there no header?  Hint: {no_header()} "
                f"says so, {option('header', ['age', 'sex', '…'], section='source', typed='age,sex,…')} names the "
                f"columns, {option('header', True, section='source', typed='yes')} says that these are names."
            )
        names = named_columns(names, where)
        count, offset = lines.count, lines.offset
        for line in lines:
            if line.startswith("\ufeff"):  # Polars would drop it
                raise SourceError(f"{where}: line {lines.count} begins with a byte order mark.  Hint: remove it.")
            # Where there is one column, spaces may be its value.
            if line.strip(" \r\n") if len(names) > 1 else line.removesuffix("\n").removesuffix("\r"):
                break
            count, offset = lines.count, lines.offset
    return Header(tuple(names), count, offset)


def _first_record(lines: _Lines, dialect: Dialect, where: str) -> list[str]:
    try:
        for record in dialect.reader(lines):
            if any(name.strip() for name in record) or len(record) > 1:
                return record
    except csv.Error as error:
        raise SourceError(f"{where}: the header {explain(error)}") from None
    raise EmptyTable(f"{where}: the file holds nothing but blank lines.")


def _without_header(content: Content, width: int, stated: bool | Sequence[str], where: str) -> Header:
    """Return the stated names, or numbers, of columns; the rows begin with the file."""
    names = [f"column_{number}" for number in range(1, width + 1)] if isinstance(stated, bool) else list(stated)
    if len(names) != width:
        raise SourceError(
            f"{where}: {option('header')} names {len(names)} columns, and the first line has {width} fields.  "
            "Hint: name each column once, in their order."
        )
    if "" in names or len(set(names)) < width:
        raise SourceError(f"{where}: {option('header')} must give each column a name of its own.")
    with content.open() as file:
        lines = _Lines(file, where)
        count, offset = 0, len(_MARK) if content.head(len(_MARK)) == _MARK else 0
        for line in lines:
            if line.strip(" \r\n"):
                break
            count, offset = lines.count, lines.offset
    return Header(tuple(names), count, offset)


def named_columns(names: list[str], where: str) -> list[str]:
    """Return the names, with stand-ins for those that programs leave out."""
    named = list(names)
    if len(named) > 1 and not named[0] and any(named):
        named[0] = ROW_NUMBERS
    if len(named) > 1 and not named[-1] and any(names):
        named[-1] = AFTER_LAST
    _check(named, where)
    return named


def _check(names: list[str], where: str) -> None:
    unnamed = [position for position, name in enumerate(names, start=1) if not name]
    if unnamed:
        listed = ", ".join(map(str, unnamed))
        noun = "column" if len(unnamed) == 1 else "columns"
        raise SourceError(f"{where}: the header has no name for {noun} {listed}.  Hint: name every column.")
    first: dict[str, int] = {}
    pairs = [(first[name], n) for n, name in enumerate(names, start=1) if first.setdefault(name, n) != n]
    if not pairs:
        return
    positions = "; ".join(f"columns {a} and {b}" for a, b in pairs)
    # Without the names: a file may have no header, and then the first line is a person's.
    raise SourceError(
        f"{where}: {positions} of the first line are the same.  "
        f"Hint: the first line must hold the columns' names, each its own; where it is a row, say {no_header()}."
    )


def no_header() -> str:
    """Return how to say that the first line of a file is a row."""
    return option("header", False, section="source", typed="no")

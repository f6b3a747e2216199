"""Whether every line of a CSV file has as many fields as its header, and which lines are blank.

Polars fills a short line with nulls and turns a blank one into a row of nulls, without a word: a person too many, or
one whose values stand in the wrong columns. This looks at the separators and line ends alone, so it costs a fraction of
reading the file, and holds no more of it than a chunk for each processor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from incrowd.engines.sources.content import NEWLINE, RETURN, Bytes, line_of, spans
from incrowd.engines.sources.dialect import Dialect
from incrowd.engines.sources.faults import ragged
from incrowd.engines.sources.header import Header
from incrowd.engines.sources.parallel import each
from incrowd.engines.sources.quotes import Quotes, Quoting
from incrowd.errors import SourceError

_SHOWN = 3
_Numbers = NDArray[np.intp]


@dataclass(frozen=True)
class _Odd:
    """Records that may be blank or ragged: their number, where they start and stop, and how many fields they have."""

    number: _Numbers
    start: _Numbers
    stop: _Numbers
    fields: _Numbers

    def __iter__(self) -> Iterator[tuple[int, int, int, int]]:
        columns = (self.number, self.start, self.stop, self.fields)
        return zip(*(column.tolist() for column in columns), strict=True)


@dataclass(frozen=True)
class _Piece:
    """What a chunk adds: the end of the record that was open before it, whole records, the beginning of another."""

    ends: int
    first_end: int
    marks_before_first_end: int
    last_end: int
    marks_after_last_end: int
    odd: _Odd


@dataclass
class _Found:
    """What has been found so far."""

    blank: list[int] = field(default_factory=list)
    ragged: list[tuple[int, int]] = field(default_factory=list)
    total_ragged: int = 0


def blank_rows(body: Bytes, dialect: Dialect, header: Header, quotes: Quotes, *, where: str) -> list[int]:
    """Return which rows, counted from 0, are blank lines; raises `SourceError` where lines are short or long.

    `body` is what follows the header. The quotes must be regular or absent.
    """
    cutter = _Cutter(
        body,
        ord(dialect.separator),
        ord(dialect.quote) if dialect.quote and quotes.quoting is Quoting.REGULAR else None,
        len(header.names),
    )
    found = _Found()
    number = start = marks = 0  # of the record that is open between two chunks
    for piece in each(cutter.cut, zip(spans(len(body)), quotes.begins_inside, strict=True)):
        if not piece.ends:
            marks += piece.marks_before_first_end
            continue
        cutter.judge(found, number, start, piece.first_end, marks + piece.marks_before_first_end + 1)
        for ordinal, *record in piece.odd:
            cutter.judge(found, number + ordinal, *record)
        number += piece.ends
        start = piece.last_end + 1
        marks = piece.marks_after_last_end
    if start < len(body):  # the last line has no newline
        cutter.judge(found, number, start, len(body), marks + 1)
    if found.ragged:
        first = [(header.lines + line_of(body, at), fields) for at, fields in found.ragged]
        raise SourceError(ragged(where, len(header.names), found.total_ragged, first))
    return found.blank


@dataclass(frozen=True)
class _Cutter:
    body: Bytes
    separator: int
    quote: int | None
    width: int

    def cut(self, chunk: tuple[tuple[int, int], bool]) -> _Piece:
        """Find the records of a chunk."""
        (start, stop), inside = chunk
        data = self.body[start:stop]
        marks = np.flatnonzero((data == self.separator) | (data == NEWLINE))
        if self.quote is not None:
            marks = marks[self._outside(data, marks, inside)]
        ends = np.flatnonzero(data[marks] == NEWLINE)
        if not len(ends):
            none = np.empty(0, dtype=np.intp)
            return _Piece(0, -1, len(marks), -1, 0, _Odd(none, none, none, none))
        stops = marks[ends] + start
        return _Piece(
            ends=len(ends),
            first_end=int(stops[0]),
            marks_before_first_end=int(ends[0]),
            last_end=int(stops[-1]),
            marks_after_last_end=len(marks) - 1 - int(ends[-1]),
            odd=self._odd(starts=stops[:-1] + 1, stops=stops[1:], fields=np.diff(ends)),
        )

    def _outside(self, data: Bytes, marks: _Numbers, inside: bool) -> NDArray[np.bool_]:
        quotes_before = np.searchsorted(np.flatnonzero(data == self.quote), marks)
        return (quotes_before + int(inside)) % 2 == 0

    def _odd(self, starts: _Numbers, stops: _Numbers, fields: _Numbers) -> _Odd:
        odd = fields != self.width
        if self.width == 1:  # a blank line has as many fields as any other
            odd |= (stops == starts) | ((stops == starts + 1) & (self.body[starts] == RETURN))
        which = np.flatnonzero(odd)
        return _Odd(which + 1, starts[which], stops[which], fields[which])

    def judge(self, found: _Found, number: int, start: int, stop: int, fields: int) -> None:
        """Add a record to what is found if it is blank or ragged."""
        if fields == 1 and self._blank(start, stop):
            found.blank.append(number)
        elif fields != self.width:
            found.total_ragged += 1
            if len(found.ragged) < _SHOWN:
                found.ragged.append((start, fields))

    def _blank(self, start: int, stop: int) -> bool:
        # Where there is one column, spaces may be its value.
        return not self.body[start:stop].tobytes().strip(b" \r" if self.width > 1 else b"\r")

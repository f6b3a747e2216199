"""Whether every line of a CSV file has as many fields as its header, and which lines are blank.

Polars fills a short line with nulls and turns a blank one into a row of nulls, without a word: a person too many, or
one whose values stand in the wrong columns. This looks at separators, quotes and line ends alone, so it costs a
fraction of reading the file, and it holds no more of the file than a chunk.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np

from incrowd.common.records import dataclass
from incrowd.kernels.line_widths import even_lines
from incrowd.sources.bitmaps import (
    Words,
    bitmap,
    counts,
    following,
    last,
    positions,
    up_to_first,
    without_first,
)
from incrowd.sources.content import NEWLINE, RETURN, Content
from incrowd.sources.dialect import Dialect
from incrowd.sources.quotes import QuoteTracker

_SHOWN = 3
# A blank line is empty, or a return.
_BLANK = 2


@dataclass
class Layout:
    """What the lines are like. Unless the quotes are regular, nothing else holds."""

    quoted: bool = False
    regular: bool = True
    blank: list[int] = field(default_factory=list)
    """Which records, counted from 0, are blank lines."""
    ragged: list[tuple[int, int]] = field(default_factory=list)
    """Where the first lines that are short or long begin, and how many fields they have."""
    total_ragged: int = 0
    commas: bool = False
    """Whether there is a comma at all, be it a separator."""
    lost_return: int | None = None
    """Where the first separator is that follows a return: Polars drops the return."""


def examine(content: Content, offset: int, dialect: Dialect, width: int) -> Layout:
    """Look at every line that follows the header, which ends at `offset` and has `width` fields."""
    examination = _Examination(ord(dialect.separator), width, start=offset)
    tracker = QuoteTracker(ord(dialect.quote), examination.separator) if dialect.quote else None
    for start, chunk in content.pieces(offset):
        examination.layout.commas = examination.layout.commas or b"," in chunk
        if (tracker is None or tracker.passes(chunk)) and examination.passes(chunk, start):
            continue
        data = np.frombuffer(chunk, dtype=np.uint8)
        separators, newlines = bitmap(data == examination.separator), bitmap(data == NEWLINE)
        if tracker:
            outside = tracker.outside(data, separators, newlines)
            if not tracker.regular:
                break
            if outside is not None:
                separators &= outside
                newlines &= outside
        examination.look_for_lost_return(chunk, start, separators)
        examination.add(chunk, start, separators, newlines)
    examination.finish(content.length)
    if tracker:
        tracker.finish()
        examination.layout.quoted, examination.layout.regular = tracker.seen, tracker.regular
    return examination.layout


@dataclass
class _Examination:
    """The records so far, and the one that is open at the end of a chunk: its number, start, separators and text."""

    separator: int
    width: int
    start: int
    layout: Layout = field(default_factory=Layout)
    number: int = 0
    open_separators: int = 0
    open_text: bytes = b""
    """As much of the open record as tells whether it is blank."""
    after_return: bool = False

    def look_for_lost_return(self, chunk: bytes, start: int, separators: Words) -> None:
        """Find a return right before a separator that is outside of quotes."""
        if self.layout.lost_return is None and (self.after_return or b"\r" in chunk):
            returns = bitmap(np.frombuffer(chunk, dtype=np.uint8) == RETURN)
            lost = following(returns, self.after_return) & separators
            if lost.any():
                self.layout.lost_return = start + int(positions(lost)[0])
        self.after_return = chunk.endswith(b"\r")

    def passes(self, chunk: bytes, start: int) -> bool:
        """Take in a chunk without quotes, if it is seen at once that nothing is odd in it; almost all are such."""
        if self.width == 1 or self.after_return or b"\r" in chunk:
            return False
        even = even_lines(chunk, self.separator, self.width, self.open_separators)
        if even is None:
            return False
        records, self.open_separators, last_newline = even
        if records:
            self.start = start + last_newline + 1
            self.open_text = b""
            self.number += records
        self.open_text = self._telling(self.open_text, chunk[last_newline + 1 :])
        return True

    def add(self, chunk: bytes, start: int, separators: Words, newlines: Words) -> None:
        """Take in a chunk that starts there and has these separators and newlines outside of quotes."""
        records = int(counts(newlines).sum())
        if not records:
            self.open_separators += int(counts(separators).sum())
            self.open_text = self._telling(self.open_text, chunk)
            return
        if self._all_right(chunk, separators, newlines):
            self.open_separators += int(counts(separators).sum()) - (self.width - 1) * records
        else:
            self._judge_each(chunk, start, positions(separators | newlines))
        end = last(newlines) + 1
        self.start = start + end
        self.open_text = self._telling(b"", chunk[end:])
        self.number += records

    def finish(self, end: int) -> None:
        """Take in a last line that does not end in a newline."""
        if self.start < end:
            self._judge(self.number, self.start, self.open_text, self.open_separators + 1)

    def _all_right(self, chunk: bytes, separators: Words, newlines: Words) -> bool:
        """Tell whether every record that ends in the chunk has the right number of fields and none is blank."""
        if self.width == 1 and self._may_have_blank(chunk):
            return False
        ends = up_to_first(newlines)
        has_end = newlines != 0
        change = counts(separators) - (self.width - 1) * counts(newlines)
        # Separators since the last line end, as they are where each word begins, if all lines so far are right.
        since_end = np.cumsum(change) - change + self.open_separators
        while has_end.any():
            expected = self.width - 1 - since_end
            if not (counts(separators & ends) == expected)[has_end].all():
                return False
            # Words in which another line ends, for the next round.
            newlines = without_first(newlines)
            ends = up_to_first(newlines)
            has_end = newlines != 0
            since_end = since_end - (self.width - 1)
        return True

    def _may_have_blank(self, chunk: bytes) -> bool:
        return chunk[:1] in (b"\n", b"\r") or b"\n\n" in chunk or b"\n\r" in chunk

    def _judge_each(self, chunk: bytes, start: int, marks: np.ndarray[tuple[int], np.dtype[np.intp]]) -> None:
        """Find the faulty records of a chunk; `marks` are its separators and newlines."""
        data = np.frombuffer(chunk, dtype=np.uint8)
        ends = np.flatnonzero(data[marks] == NEWLINE)
        stops = marks[ends]
        starts = np.concatenate(([0], stops[:-1] + 1))
        fields = np.diff(ends, prepend=-1 - self.open_separators)
        odd = fields != self.width
        if self.width == 1:  # a blank line has as many fields as any other
            odd |= (stops == starts) | ((stops == starts + 1) & (data[starts] == RETURN))
        odd[0] = True  # it may have begun in an earlier chunk
        for at in np.flatnonzero(odd).tolist():
            text = self._telling(b"" if at else self.open_text, chunk[starts[at] : stops[at]])
            self._judge(self.number + at, start + int(starts[at]) if at else self.start, text, int(fields[at]))
        self.open_separators = len(marks) - 1 - int(ends[-1])

    def _telling(self, before: bytes, text: bytes) -> bytes:
        """Return as much of a line as tells whether it is blank: nothing else of it is held."""
        if self.width == 1:
            return (before + text[:_BLANK])[:_BLANK]
        return before or text.strip(b" \r")[:1]

    def _judge(self, number: int, start: int, text: bytes, fields: int) -> None:
        # Where there is one column, spaces may be its value.
        if fields == 1 and text in (b"", b"\r"):
            self.layout.blank.append(number)
        elif fields != self.width:
            self.layout.total_ragged += 1
            if len(self.layout.ragged) < _SHOWN:
                self.layout.ragged.append((start, fields))

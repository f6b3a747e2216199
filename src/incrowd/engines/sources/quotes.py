"""Whether a file quotes its fields, and whether it does so by the rules (RFC 4180), without parsing it.

By the rules every quote opens a field, closes one, or is written twice inside of one, so a byte is inside of quotes if
an odd number of quotes comes before it. Counting them chunk by chunk is many times faster than parsing, and exact for
a file that keeps the rules; whether it does shows at the neighbours of each quote.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from incrowd.engines.sources.content import NEWLINE, RETURN, SPACE, Bytes, spans
from incrowd.engines.sources.dialect import Dialect
from incrowd.engines.sources.parallel import each

Positions = NDArray[np.intp]


class Quoting(Enum):
    """How a file uses its quote character."""

    ABSENT = "no field begins with a quote, so those inside are text like any other"
    REGULAR = "as in RFC 4180"
    UNUSUAL = "some fields begin with a quote, others have one in the middle, or a quote is not closed"


@dataclass(frozen=True)
class Quotes:
    """How the file quotes, and for each chunk whether it begins inside of a quoted field."""

    quoting: Quoting
    begins_inside: tuple[bool, ...]


@dataclass(frozen=True)
class _Tally:
    quotes: int = 0
    at_a_start: int = 0


def survey(body: Bytes, dialect: Dialect) -> Quotes:
    """Look at every quote of the file."""
    chunks = list(spans(len(body)))
    outside = Quotes(Quoting.ABSENT, (False,) * len(chunks))
    if dialect.quote is None:
        return outside
    looker = _Looker(body, ord(dialect.separator), ord(dialect.quote), dialect.padded)
    tallies = list(each(looker.tally, chunks))
    if not any(tally.at_a_start for tally in tallies):
        return outside
    before = [0, *accumulate(tally.quotes for tally in tallies)]
    inside = tuple(count % 2 == 1 for count in before)
    regular = not inside[-1] and all(each(looker.regular, zip(chunks, inside[:-1], strict=True)))
    return replace(outside, quoting=Quoting.REGULAR if regular else Quoting.UNUSUAL, begins_inside=inside[:-1])


@dataclass(frozen=True)
class _Looker:
    body: Bytes
    separator: int
    quote: int
    padded: bool

    def tally(self, span: tuple[int, int]) -> _Tally:
        """Count a chunk's quotes, and those that a field begins with."""
        at = self._positions(span)
        if not len(at):
            return _Tally()
        before = self._byte(at - 1)
        start = self._edge(before)
        if self.padded:
            start |= before == SPACE
        return _Tally(len(at), int(np.count_nonzero(start)))

    def regular(self, chunk: tuple[tuple[int, int], bool]) -> bool:
        """Tell whether every quote of a chunk has the neighbours that the rules ask for."""
        span, inside = chunk
        at = self._positions(span)
        opening, closing = at[int(inside) :: 2], at[1 - int(inside) :: 2]
        before, after = self._byte(opening - 1), self._byte(closing + 1)
        returns = after == RETURN
        after[returns] = self._byte(closing[returns] + 2)
        ends = self._edge(after) | ((after == self.quote) & ~returns)
        ends &= ~returns | (after == NEWLINE)
        return bool((self._edge(before) | (before == self.quote)).all() and ends.all())

    def _positions(self, span: tuple[int, int]) -> Positions:
        start, stop = span
        return np.flatnonzero(self.body[start:stop] == self.quote) + start

    def _byte(self, at: Positions) -> Bytes:
        """Return the bytes at these positions; before the first and after the last there is, as it were, a newline."""
        exists = (at >= 0) & (at < len(self.body))
        return np.where(exists, self.body[np.where(exists, at, 0)], np.uint8(NEWLINE))

    def _edge(self, byte: Bytes) -> NDArray[np.bool_]:
        return (byte == self.separator) | (byte == NEWLINE)

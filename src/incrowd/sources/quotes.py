"""Which bytes are inside of quotes, and whether the quotes keep the rules (RFC 4180), without parsing.

By the rules every quote opens a field, closes one, or is written twice inside of one, so a byte is inside if an odd
number of quotes comes before it. That is exact for a file that keeps the rules; whether it does shows at the neighbours
of each quote.
"""

from __future__ import annotations

import numpy as np

from incrowd.common.arrays import Bytes
from incrowd.common.records import dataclass
from incrowd.sources.bitmaps import Words, bitmap, ends_with, following, odd_so_far
from incrowd.sources.content import NEWLINE, RETURN, Content
from incrowd.sources.dialect import Dialect


@dataclass
class QuoteTracker:
    """Follows the quotes of a file chunk by chunk; a chunk begins as the one before it ended."""

    quote: int
    separator: int
    seen: bool = False
    regular: bool = True
    inside: bool = False
    _after_edge: bool = True
    _after_closing: bool = False
    _after_return: bool = False  # one that came right after a closing quote, so a newline must be next

    def outside(self, data: Bytes, separators: Words, newlines: Words) -> Words | None:
        """Return the bytes of a chunk that are outside of quotes, or None if all of them are."""
        is_quote = data == self.quote
        pending = self.inside or self._after_closing or self._after_return
        edges = separators | newlines
        if not (pending or is_quote.any()):
            self._after_edge = ends_with(edges)
            return None
        quotes, returns = bitmap(is_quote), bitmap(data == RETURN)
        self.seen = True
        inside = odd_so_far(quotes, self.inside)
        # Beyond the end of the file there is nothing that could be at fault.
        exists = bitmap(np.ones(len(data), dtype=np.bool_))
        self._check(quotes, inside, edges, newlines, returns, exists)
        self.inside = ends_with(inside)
        return ~inside

    def passes(self, data: bytes) -> bool:
        """Take in a chunk in which nothing is or ends a quote; say whether it is one."""
        if self.inside or self._after_closing or self._after_return or self.quote in data:
            return False
        self._after_edge = data[-1] in (self.separator, NEWLINE)
        return True

    def finish(self) -> None:
        """Note that the file is over: a quote that is open now stays so."""
        self.regular &= not self.inside

    def _check(
        self, quotes: Words, inside: Words, edges: Words, newlines: Words, returns: Words, exists: Words
    ) -> None:
        opening, closing = quotes & inside, quotes & ~inside
        may_open = following(edges | quotes, self._after_edge)
        closed = following(closing, self._after_closing)
        must_be_newline = following(closed & returns, self._after_return)
        faults = (opening & ~may_open) | (must_be_newline & ~newlines)
        faults |= closed & ~(edges | quotes | returns)
        self.regular &= not (faults & exists).any()
        self._after_edge = ends_with(edges | quotes)
        self._after_closing = ends_with(closing)
        self._after_return = ends_with(closed & returns)


def open_fields(content: Content, dialect: Dialect, offset: int) -> bool:
    """Tell whether any field begins with a quote; if none does, quotes are text like any other (5" pipe)."""
    quote = (dialect.quote or "").encode()
    begins = (dialect.separator.encode() + quote, b"\n" + quote, *([b" " + quote] if dialect.padded else []))
    before = b"\n"  # the body's first byte begins a line
    for _, data in content.pieces(offset):
        piece = before + data
        if any(mark in piece for mark in begins):
            return True
        before = piece[-1:]
    return False

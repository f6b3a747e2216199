"""Distinct tuples of a plain CSV file, counted from its lines: no table of its rows is made.

A file is plain if nothing in it is quoted and no line is blank, so that every separator and every newline is one. That
was found out when it was opened. What Polars would do with each row (words for missing, ways of writing) is done here
once for each different text of a column. Cores share the file; what is counted does not depend on how.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes, Counts, pick
from incrowd.common.records import dataclass
from incrowd.common.threads import do_together, threads
from incrowd.hierarchies.values import FEW
from incrowd.kernels.line_counts import MARGIN, LineCounts
from incrowd.sources.content import CHUNK, Content

_WORTH_SHARING = 1 << 22
"""A file of fewer bytes is counted before another thread has started."""
_SHORT = 1 << 16
"""Texts of fewer bytes are parted before Polars has planned how to."""
_COUNT = "n"


@dataclass(frozen=True)
class PlainLines:
    """Lines of a file after its header, and what a text of a column is read as."""

    content: Content
    offset: int
    separator: str
    names: tuple[str, ...]
    by_itself: bool = False
    """Whether each line is read by itself, as private methods do (`stated_csv.py`)."""
    as_read: Callable[[str, pl.Series], pl.Series] = lambda name, texts: texts

    def distinct(self, columns: Sequence[str], *, each_once: bool = True) -> tuple[pl.DataFrame, Counts] | None:
        """Return the distinct tuples of columns, and how many rows have each; None where lines are not plain."""
        places = [self.names.index(name) for name in columns]
        with ExitStack() as held:
            ranges = self._ranges()
            parts = [held.enter_context(self._counts(places)) for _ in ranges]
            do_together([partial(self._add, part, *reach) for part, reach in zip(parts, ranges, strict=True)])
            whole, *others = parts
            for part in others if each_once else ():
                whole.join(part)
            codes, counts, odd = whole.found(*(() if each_once else others))
            texts = [whole.texts(place) for place in range(len(columns))]
        if odd and not self.by_itself:
            return None
        read = [self.as_read(name, _as_series(text)) for name, text in zip(columns, texts, strict=True)]
        return _distinct(columns, read, codes, counts)

    def _counts(self, places: Sequence[int]) -> LineCounts:
        return LineCounts(len(self.names), ord(self.separator), places, by_itself=self.by_itself)

    def _ranges(self) -> list[tuple[int, int]]:
        """Cut the file where lines begin, into a range for each thread."""
        length = self.content.length - self.offset
        number = max(1, min(threads(), length // _WORTH_SHARING))
        cuts = [self.offset, *(self._next_line(self.offset + length * part // number) for part in range(1, number))]
        return list(zip(cuts, [*cuts[1:], self.content.length], strict=True))

    def _next_line(self, place: int) -> int:
        """Return where the first line begins from a place on."""
        with self.content.open() as file:
            file.seek(place - 1)
            return place - 1 + len(file.readline())

    def _add(self, counts: LineCounts, start: int, stop: int) -> None:
        room, filled = np.zeros(2 * CHUNK + MARGIN, dtype=np.uint8), 0
        with self.content.open() as file:
            file.seek(start)
            for place in range(start, stop, CHUNK):
                size = min(CHUNK, stop - place)
                if filled + size + MARGIN > len(room):  # a line is longer than all others so far
                    room = np.concatenate([room, np.zeros_like(room)])
                self.content.fill(room[filled : filled + size].data, file)
                filled += size
                ended = counts.take(room, filled)
                filled -= ended
                room[:filled] = room[ended : ended + filled]
        if filled:  # the last line of the file may end without a newline
            room[filled] = ord("\n")
            counts.take(room, filled + 1)


def _as_series(texts: bytes) -> pl.Series:
    """Return texts that end in a newline each; an empty one is null, and bytes that are no UTF-8 become one sign."""
    whole = texts[:-1].decode(errors="replace")
    if len(texts) < _SHORT:
        found = [text or None for text in whole.split("\n")]
        return pl.Series("", found if texts else [], dtype=pl.String)
    return pl.Series("", [whole], dtype=pl.String).str.split("\n").explode().replace("", None)


def _distinct(
    columns: Sequence[str], read: Sequence[pl.Series], codes: Codes, counts: Counts
) -> tuple[pl.DataFrame, Counts]:
    if all(texts.n_unique() == len(texts) for texts in read):
        coded = do_together(
            [partial(_by_number, texts, codes[:, place]) for place, texts in enumerate(read)], steps=codes.size
        )
        return pl.DataFrame(coded, schema=list(columns)), counts
    raw = pl.DataFrame([texts.gather(codes[:, place]) for place, texts in enumerate(read)], schema=list(columns))
    # Two texts are read as one value, so two tuples may be one.
    keys = [f"c{place}" for place in range(len(columns))]
    raw.columns = keys
    found = raw.with_columns(pl.Series(_COUNT, counts)).group_by(keys).agg(pl.col(_COUNT).sum())
    joined = found.drop(_COUNT)
    joined.columns = list(columns)
    return joined, found[_COUNT].to_numpy()


def _by_number(texts: pl.Series, codes: Codes) -> pl.Series:
    """Return texts by their numbers, one of which may stand for null: as an Enum, which takes long to make for few."""
    if len(codes) <= FEW:
        return pick(texts, codes)
    if not texts.null_count():
        return pl.Series(codes.astype(np.uint32)).cat.to(pl.Enum(texts))
    known = texts.is_not_null()
    numbers = pl.Series((known.cum_sum() - 1).cast(pl.UInt32)).zip_with(known, pl.Series([None], dtype=pl.UInt32))
    return pick(numbers, codes).cat.to(pl.Enum(texts.filter(known)))

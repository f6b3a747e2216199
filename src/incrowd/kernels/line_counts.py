"""Count the distinct tuples of some columns in the lines of plain text, without making a table of them first.

A line's fields are cut at every separator: nothing is quoted. The loops are in `native/line_counts.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np

from incrowd.common.threads import threads
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Bytes, Codes, Counts

MARGIN = 64
"""The loop looks at so many bytes at a time."""


class LineCounts:
    """Distinct tuples so far. Use it in a `with` statement: its memory is not Python's."""

    def __init__(self, width: int, separator: int, wanted: Sequence[int], *, by_itself: bool = False) -> None:
        """Count the columns at the places `wanted` of lines with `width` fields.

        Taken `by_itself`, no line is an error: blank ones are left out, spaces around fields are dropped, and all
        fields of a line are empty that has more or fewer of them.
        """
        self.columns = len(wanted)
        places = np.array(wanted, dtype=np.int64)
        self._handle: int = call("open_line_counts", width, separator, places, by_itself)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        call("close_line_counts", self._handle)

    def take(self, room: Bytes, filled: int) -> int:
        """Count the lines that end in the first bytes of some room; return where the last of them ends.

        After what is filled, `MARGIN` bytes follow.
        """
        ended: int = call("add_lines", self._handle, room.view(np.bool_), filled)
        return ended

    def join(self, other: LineCounts) -> None:
        """Count what another one has counted, of the same columns."""
        call("join_line_counts", self._handle, other._handle)

    def found(self, *others: LineCounts) -> tuple[Codes, Counts, int]:
        """Return tuples of texts' numbers, how many lines have each, and how many had another number of fields.

        What others have counted of the same columns is listed after it, a tuple once for each of them: this takes far
        less than joining them. Their texts become its own.
        """
        handles = np.array([one._handle for one in (self, *others)], dtype=np.int64)
        codes, counts, odd = call("counted_lines", handles, threads())
        return codes.reshape(len(counts), self.columns), counts, odd

    def texts(self, column: int) -> bytes:
        """Return the texts of a column in the order of their numbers, each with a newline after it."""
        texts, _ = call("texts_of_lines", self._handle, column)
        found: bytes = texts.tobytes()
        return found

"""Repeat numbers and lines of text. The loops are in `native/repeating.cpp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.common.threads import threads
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Counts, Ints

_NEWLINE = ord("\n")


def repeat(items: Ints, times: Counts) -> Ints:
    """Return each item so often; what `np.repeat` does, which lets no other thread run meanwhile."""
    repeated = np.empty(int(times.sum()), dtype=np.int64)
    call("repeat_items", np.ascontiguousarray(items), np.ascontiguousarray(times), repeated, threads())
    return repeated


def repeat_places(times: Counts) -> Ints:
    """Return the place of each number so often as it says: which run everything is of, where runs are so long."""
    repeated = np.empty(int(times.sum()), dtype=np.int64)
    call("repeat_places", np.ascontiguousarray(times), repeated, threads())
    return repeated


def repeat_lines(text: bytes, times: Counts) -> memoryview | None:
    """Return a text whose lines come `times` each; None if it has another number of lines: one is in quotes."""
    data = np.frombuffer(text, dtype=np.uint8)
    ends = np.flatnonzero(data == _NEWLINE) + 1
    if len(ends) != len(times):
        return None
    repeated = np.empty(int(np.diff(ends, prepend=0) @ times), dtype=np.bool_)
    call("repeat_lines", data.view(np.bool_), ends, times, repeated)
    return repeated.view(np.uint8).data

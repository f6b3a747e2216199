"""Repeat lines of text. The loop is in `native/repeating.cpp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Counts

_NEWLINE = ord("\n")


def repeat_lines(text: bytes, times: Counts) -> memoryview | None:
    """Return a text whose lines come `times` each; None if it has another number of lines: one is in quotes."""
    data = np.frombuffer(text, dtype=np.uint8)
    ends = np.flatnonzero(data == _NEWLINE) + 1
    if len(ends) != len(times):
        return None
    repeated = np.empty(int(np.diff(ends, prepend=0) @ times), dtype=np.bool_)
    call("repeat_lines", data.view(np.bool_), ends, times, repeated)
    return repeated.view(np.uint8).data

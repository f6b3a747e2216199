"""Whether all lines of a piece of text have the same number of fields. The loop is in `native/line_widths.cpp`."""

from __future__ import annotations

import numpy as np

from incrowd.kernels.native.calling import call

_MARGIN = bytes(64)
"""The loop looks at so many bytes at a time."""


def even_lines(text: bytes, separator: int, width: int, open_separators: int) -> tuple[int, int, int] | None:
    """Return how many lines end in a text, how many separators follow the last of them, and where it ends (-1: none).

    None if one of them has not `width` fields. The first line has `open_separators` more before the text.
    """
    data = np.frombuffer(text + _MARGIN, dtype=np.bool_)
    lines, still_open, last = call("even_lines", data, len(text), separator, width, open_separators)
    return None if lines < 0 else (lines, still_open, last)

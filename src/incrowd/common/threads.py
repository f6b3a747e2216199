"""How many threads a loop may use: one for each core, or what `INCROWD_THREADS` or `threads=` says.

Results do not depend on it, byte by byte.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from incrowd.common.parameters import require_whole
from incrowd.errors import RecipeError

VARIABLE = "INCROWD_THREADS"

_asked: ContextVar[int | None] = ContextVar("threads", default=None)


def threads() -> int:
    """Return how many threads a loop may use now."""
    asked = _asked.get()
    if asked is not None:
        return asked
    text = os.environ.get(VARIABLE, "")
    if not text:
        return _cores()
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise RecipeError(f"{VARIABLE} is '{text}', and not a whole number above 0.  Hint: unset it to use all cores.")
    return int(text)


@contextmanager
def using(number: int | None) -> Iterator[None]:
    """Let loops use so many threads in here; with None, as many as outside."""
    if number is None:
        yield
        return
    require_whole("publish", "threads", number, at_least=1)
    token = _asked.set(number)
    try:
        yield
    finally:
        _asked.reset(token)


def _cores() -> int:
    """Return how many cores this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)  # not on Windows and macOS
    return len(allowed(0)) if allowed else os.cpu_count() or 1

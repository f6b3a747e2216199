"""Threads: how many there may be (one for each core, or what `INCROWD_THREADS` or `threads=` says), and shared work.

Results do not depend on it, byte by byte.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from threading import Lock
from typing import Any, TypeVar

from incrowd.common.parameters import require_whole
from incrowd.errors import RecipeError

T = TypeVar("T")

VARIABLE = "INCROWD_THREADS"

WORTH_THREADS = 1 << 17
"""With fewer numbers to look at than this, starting threads takes as long as they save."""

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
def using(number: int | None, part: str = "publish") -> Iterator[None]:
    """Let loops use so many threads in here; with None, as many as outside. A `part` refuses what is no number."""
    if number is None:
        yield
        return
    require_whole(part, "threads", number, at_least=1)
    token = _asked.set(number)
    try:
        yield
    finally:
        _asked.reset(token)


def do_together(
    tasks: Sequence[Callable[[], T]],
    done: Callable[[int, T], None] | None = None,
    *,
    steps: int = WORTH_THREADS,
) -> list[T]:
    """Do independent work at the same time, as far as there may be threads; return what came of it, in its order.

    `done` is told, in the same order and by the caller's own thread, of each that has ended. If any fails, the first
    of them in that order is raised, what was not begun is left undone, and what runs is waited for. `steps` are about
    how many numbers all of it looks at: few are looked at by this thread alone.
    """
    number, found = threads(), list[T]()

    def note(result: T) -> None:
        found.append(result)
        if done is not None:
            done(len(found) - 1, result)

    if number == 1 or len(tasks) < 2 or steps < WORTH_THREADS:
        for task in tasks:
            note(task())
        return found
    from concurrent.futures import ThreadPoolExecutor  # which takes a while to import, and a small table does not need

    each = max(1, number // len(tasks))
    pool = ThreadPoolExecutor(min(number, len(tasks)))
    try:
        for one in [pool.submit(copy_context().run, _with_threads, each, task) for task in tasks]:
            note(one.result())
    finally:
        pool.shutdown(cancel_futures=True)
    return found


def shares(number: int, *, steps: int | None = None) -> list[tuple[int, int]]:
    """Cut a list of so many things into a range for each thread; few of them, or few `steps`, are one range."""
    parts = threads() if (number if steps is None else steps) >= WORTH_THREADS else 1
    return [(number * part // parts, number * (part + 1) // parts) for part in range(parts)]


def _with_threads(number: int, task: Callable[[], T]) -> T:
    with using(number):
        return task()


class Once:
    """Results of work that several threads need: each is found once, and others wait for it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._locks: dict[Hashable, Lock] = {}
        self._found: dict[Hashable, Any] = {}

    def get(self, name: Hashable, work: Callable[[], T]) -> T:
        """Return what some work finds, which is done for the first who asks for it by this name."""
        if name not in self._found:
            with self._lock:
                lock = self._locks.setdefault(name, Lock())
            with lock:
                if name not in self._found:
                    self._found[name] = work()
        found: T = self._found[name]
        return found


def _cores() -> int:
    """Return how many cores this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)  # not on Windows and macOS
    return len(allowed(0)) if allowed else os.cpu_count() or 1

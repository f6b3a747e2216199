"""Threads: how many there may be (one for each core, or what `INCROWD_THREADS` or `threads=` says), and shared work.

Results do not depend on it, byte by byte.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from threading import Lock, Thread
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
    number = threads() if len(tasks) > 1 and steps >= WORTH_THREADS else 1
    if number == 1:
        found = list[T]()
        for place, task in enumerate(tasks):
            found.append(task())
            if done is not None:
                done(place, found[-1])
        return found
    each, number = max(1, number // len(tasks)), min(number, len(tasks))
    return _with_the_caller(tasks, number, each) if done is None else _beside_the_caller(tasks, number, each, done)


def _with_the_caller(tasks: Sequence[Callable[[], T]], number: int, each: int) -> list[T]:
    """Do tasks by so many threads, of which the caller's own is one: it is there, and another takes time to start."""
    waiting, found, failed = deque(enumerate(tasks)), dict[int, T](), dict[int, BaseException]()

    def work() -> None:
        with using(each):
            while waiting:
                try:
                    place, task = waiting.popleft()
                except IndexError:  # another thread was faster
                    return
                try:
                    found[place] = task()
                except BaseException as error:
                    failed[place] = error
                    waiting.clear()

    others = [Thread(target=copy_context().run, args=(work,)) for _ in range(number - 1)]
    started = list[Thread]()
    try:
        for other in others:
            with suppress(RuntimeError):  # there are no more threads to be had: those that are there do it all
                other.start()
                started.append(other)
        work()
    finally:
        waiting.clear()
        for other in started:
            other.join()
    if failed:
        raise failed[min(failed, key=lambda place: (isinstance(failed[place], Exception), place))]
    return [found[place] for place in range(len(tasks))]


def _beside_the_caller(
    tasks: Sequence[Callable[[], T]], number: int, each: int, done: Callable[[int, T], None]
) -> list[T]:
    """Do tasks by so many threads, while the caller's own waits, and tells of each that has ended."""
    from concurrent.futures import ThreadPoolExecutor  # which takes a while to import

    def work(task: Callable[[], T]) -> T:
        with using(each):
            return task()

    found, pool = list[T](), ThreadPoolExecutor(number)
    try:
        for place, one in enumerate([pool.submit(copy_context().run, work, task) for task in tasks]):
            found.append(one.result())
            done(place, found[-1])
    finally:
        pool.shutdown(cancel_futures=True)
    return found


def shares(number: int, *, steps: int | None = None) -> list[tuple[int, int]]:
    """Cut a list of so many things into a range for each thread; few of them, or few `steps`, are one range."""
    parts = threads() if (number if steps is None else steps) >= WORTH_THREADS else 1
    return [(number * part // parts, number * (part + 1) // parts) for part in range(parts)]


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

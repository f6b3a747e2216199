"""What runs in a process of its own: it takes tasks from the server, one after the other, and answers in plain values.

It ends with the server, whatever ends that. Nothing that other libraries say reaches a terminal or a log: it may quote
the table.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from _thread import interrupt_main
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from typing import Any

from incrowd.common.importing import without_collecting
from incrowd.common.records import dataclass
from incrowd.studio.refusing import Cancelled, error_of, status_of

SECONDS_BETWEEN = 0.1
"""Progress is told so often at most."""
_SECONDS_TO_END = 3.0


@dataclass
class Teller:
    """How a task tells how far it is, and hears that it was called off."""

    send: Callable[[tuple[Any, ...]], None]
    cancelled: Event
    _last: dict[str, float] = field(default_factory=dict)

    def progress(self, stage: str, done: float) -> None:
        """Tell how far a stage is; raises `Cancelled` where the work was called off."""
        if self.cancelled.is_set():
            raise Cancelled
        now = time.monotonic()
        if done in (0.0, 1.0) or now - self._last.get(stage, 0.0) >= SECONDS_BETWEEN:
            self._last[stage] = now
            self.send(("progress", stage, float(done)))

    def part(self, name: str, found: Any) -> None:
        """Hand over a part of the result before the rest is there."""
        self.send(("part", name, found))


Task = Callable[[dict[str, Any], dict[str, Any], Teller], Any]
"""Takes what the process remembers, what is asked, and whom to tell."""


def work(pipe: Connection, life: Connection, cancelled: Event, nice: int = 0) -> None:
    """Do tasks until the server is gone."""
    if nice and hasattr(os, "nice"):
        os.nice(nice)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _terminate)
    _be_quiet()
    threading.Thread(target=_end_with, args=(life,), daemon=True).start()
    with without_collecting():
        from incrowd.studio.tasks import task_named

    memory: dict[str, Any] = {}
    lock = threading.Lock()

    def send(message: tuple[Any, ...]) -> None:
        with lock:
            pipe.send(message)

    while True:
        try:
            name, asked = pipe.recv()
        except (EOFError, OSError, KeyboardInterrupt):
            return
        try:
            with without_collecting():
                task = task_named(name)
            found = task(memory, asked, Teller(send, cancelled))
            answer: tuple[Any, ...] = ("done", found)
        except Cancelled:
            answer = ("cancelled",)
        except KeyboardInterrupt:
            return
        except Exception as error:  # whatever it is, somebody waits for an answer, and other tasks for their turn
            answer = ("failed", error_of(error), status_of(error))
        try:
            send(answer)
        except (OSError, ValueError):
            return


def _be_quiet() -> None:
    """Say nothing on the terminal: a panic of another library may quote a row."""
    warnings.simplefilter("ignore")
    if not os.environ.get("INCROWD_DEBUG"):
        # By their numbers, under whatever Python has put on top of them: Rust and C write there, too.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        os.close(nowhere)


def _terminate(number: int, frame: Any) -> None:
    raise KeyboardInterrupt  # what is half-made is taken away on the way out


def _end_with(life: Connection) -> None:
    """Wait for the server to end, and end then: in order, or in the end without."""
    with suppress(EOFError, OSError):
        life.recv()
    interrupt_main()
    time.sleep(_SECONDS_TO_END)
    os._exit(1)

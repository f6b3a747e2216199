"""A process that does tasks for the server, as the server sees it: asked, listened to, called off, started again."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from incrowd.studio.refusing import Cancelled
from incrowd.studio.working import work

SECONDS_TO_HEED = 2.0
"""Work that does not stop by itself for so long after it was called off is ended with its process."""
_SPAWN = get_context("spawn")  # libraries that use threads must not be forked

Told = Callable[[str, float], None]
Part = Callable[[str, Any], None]


class TaskFailed(Exception):
    """A task went wrong; what is to be said of it, and with which status."""

    def __init__(self, error: dict[str, Any], status: int) -> None:
        super().__init__(error["message"])
        self.error = error
        self.status = status


def _nothing(*_: Any) -> None:
    """Tell nobody."""


class Worker:
    """One process, started when it is first asked, that does one task at a time."""

    def __init__(self) -> None:
        self._process: Any = None
        self._pipe: Connection | None = None
        self._life: Connection | None = None
        self._cancelled: Any = None
        self._answers: asyncio.Queue[tuple[Any, ...] | None] = asyncio.Queue()
        self._turn = asyncio.Lock()
        self.restarted = 0
        """How often a process was started: what an earlier one remembered is gone."""

    async def do(self, task: str, asked: dict[str, Any], progress: Told = _nothing, part: Part = _nothing) -> Any:
        """Do a task; raises `TaskFailed`, or `Cancelled` where it was called off.

        A caller that is cancelled itself calls the work off, and waits until it has stopped.
        """
        async with self._turn:
            self._start()
            assert self._pipe is not None
            self._cancelled.clear()
            self._pipe.send((task, asked))
            try:
                return await self._answer(progress, part)
            except asyncio.CancelledError:
                await asyncio.shield(self._call_off())
                raise

    async def _answer(self, progress: Told, part: Part) -> Any:
        while True:
            answer = await self._answers.get()
            if answer is None:
                self.end()
                raise TaskFailed(
                    {
                        "kind": "Fault",
                        "message": "the process that did this has ended: perhaps the machine ran out of memory.",
                        "hint": "try a smaller table, or fewer columns",
                        "column": None,
                        "values": [],
                    },
                    500,
                )
            kind, *rest = answer
            if kind == "progress":
                progress(*rest)
            elif kind == "part":
                part(*rest)
            elif kind == "done":
                return rest[0]
            elif kind == "cancelled":
                raise Cancelled
            else:
                raise TaskFailed(*rest)

    async def _call_off(self) -> None:
        """Ask the work to stop; where it does not listen, end its process."""
        self._cancelled.set()
        try:
            async with asyncio.timeout(SECONDS_TO_HEED):
                while True:
                    answer = await self._answers.get()
                    if answer is None or answer[0] in ("done", "cancelled", "failed"):
                        return
        except TimeoutError:
            await asyncio.to_thread(self.end)

    def _start(self) -> None:
        if self._process is not None and self._process.is_alive():
            return
        self.end()
        here, there = _SPAWN.Pipe()
        alive, dies = _SPAWN.Pipe()
        self._cancelled = _SPAWN.Event()
        self._process = _SPAWN.Process(target=work, args=(there, dies, self._cancelled), daemon=True)
        self._process.start()
        there.close()
        dies.close()
        self._pipe, self._life = here, alive
        self._answers = asyncio.Queue()
        self.restarted += 1
        loop = asyncio.get_running_loop()
        threading.Thread(target=_listen, args=(here, self._answers, loop), daemon=True).start()

    def end(self) -> None:
        """End the process: first kindly, so that nothing half-written stays, then for sure."""
        process, self._process = self._process, None
        if process is not None:
            process.terminate()
            process.join(SECONDS_TO_HEED)
            if process.is_alive():
                process.kill()
                process.join(1)
        for pipe in (self._pipe, self._life):
            if pipe is not None:
                pipe.close()
        self._pipe = self._life = None


def _listen(pipe: Connection, answers: asyncio.Queue[Any], loop: asyncio.AbstractEventLoop) -> None:
    """Hand on what the process says; None when it says nothing more."""
    while True:
        try:
            answer = pipe.recv()
        except (EOFError, OSError):
            answer = None
        try:
            loop.call_soon_threadsafe(answers.put_nowait, answer)
        except RuntimeError:  # the server has ended
            return
        if answer is None:
            return

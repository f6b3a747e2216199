"""A process that does tasks for the server, as the server sees it: asked, listened to, called off, started again."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, Literal

from incrowd.studio.refusing import Cancelled
from incrowd.studio.working import work

SECONDS_TO_HEED = {"remembers": 3.0, "writes": 0.7}
"""Work that does not stop by itself for so long after it was called off is ended with its process."""
SECONDS_TO_TIDY = 2.0
"""A process that is ended has so long to take away what it has half-written."""
_SPAWN = get_context("spawn")  # libraries that use threads must not be forked

Kind = Literal["remembers", "writes", "computes"]
Told = Callable[[str, float], None]
Part = Callable[[str, Any], None]


class TaskFailed(Exception):
    """A task went wrong; what is to be said of it, and with which status."""

    def __init__(self, error: dict[str, Any], status: int) -> None:
        super().__init__(error["message"])
        self.error = error
        self.status = status


class WorkerDied(TaskFailed):
    """The process of a task has ended, and with it what it remembered."""

    def __init__(self) -> None:
        super().__init__(
            {
                "kind": "Fault",
                "message": "the process that did this has ended: perhaps the machine ran out of memory.",
                "hint": "try a smaller table, or fewer columns",
                "column": None,
                "values": [],
            },
            500,
        )


def _nothing(*_: Any) -> None:
    """Tell nobody."""


class Worker:
    """One process, started when it is first asked, that does one task at a time.

    Work in the background is `nice` to what somebody waits for. `kind` says what becomes of work that is called off: a
    process that "remembers" a table is not waited for, and stops by itself where it can; one that "writes" has taken
    away what it has half-written before anybody hears that it stopped; one that only "computes" is ended at once.
    """

    def __init__(self, kind: Kind = "remembers", *, nice: int = 0) -> None:
        self._kind = kind
        self._nice = nice
        self._asked = False
        self._starting: asyncio.Future[None] | None = None
        self._calming: asyncio.Task[None] | None = None
        self._process: Any = None
        self._pipe: Connection | None = None
        self._life: Connection | None = None
        self._cancelled: Any = None
        self._answers: asyncio.Queue[tuple[Any, ...] | None] = asyncio.Queue()
        self._turn = asyncio.Lock()
        self.restarted = 0
        """How often a process was started: what an earlier one remembered is gone."""

    @property
    def is_alive(self) -> bool:
        """Whether its process runs."""
        return self._process is not None and self._process.is_alive()

    async def do(self, task: str, asked: dict[str, Any], progress: Told = _nothing, part: Part = _nothing) -> Any:
        """Do a task; raises `TaskFailed`, or `Cancelled` where it was called off.

        A caller that is cancelled itself calls the work off.
        """
        await self._turn.acquire()
        over, self._asked = True, False
        try:
            # In threads: to start a process takes a moment, and until it has started it takes no more than fits into
            # the pipe. Meanwhile others are answered.
            self._starting = asyncio.ensure_future(asyncio.to_thread(self._start, asyncio.get_running_loop()))
            await asyncio.shield(self._starting)
            assert self._pipe is not None
            self._cancelled.clear()
            self._asked = True
            await asyncio.to_thread(self._pipe.send, (task, asked))
            return await self._answer(progress, part)
        except OSError:  # it has ended since it was looked at
            await asyncio.to_thread(self.end)
            raise WorkerDied from None
        except asyncio.CancelledError:
            over = False  # the turn is over when the work has stopped
            self._calming = asyncio.create_task(self._call_off())
            if self._kind != "remembers":
                await asyncio.shield(self._calming)
            raise
        finally:
            if over:
                self._turn.release()

    async def _answer(self, progress: Told, part: Part) -> Any:
        while True:
            answer = await self._answers.get()
            if answer is None:
                await asyncio.to_thread(self.end)
                raise WorkerDied
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
        """Ask the work to stop; where it does not listen, end its process. Then it is somebody else's turn."""
        try:
            if self._starting is not None:
                await self._starting  # what is not there yet cannot be ended
            if not self._asked:
                return
            self._cancelled.set()
            async with asyncio.timeout(SECONDS_TO_HEED.get(self._kind, 0.0)):
                while True:
                    answer = await self._answers.get()
                    if answer is None or answer[0] in ("done", "cancelled", "failed"):
                        return
        except TimeoutError:
            await asyncio.to_thread(self.end)
        finally:
            self._turn.release()

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        if self.is_alive:
            return
        self.end()
        here, there = _SPAWN.Pipe()
        alive, dies = _SPAWN.Pipe()
        self._cancelled = _SPAWN.Event()
        self._process = _SPAWN.Process(target=work, args=(there, dies, self._cancelled, self._nice), daemon=True)
        self._process.start()
        there.close()
        dies.close()
        self._pipe, self._life = here, alive
        self._answers = asyncio.Queue()
        self.restarted += 1
        threading.Thread(target=_listen, args=(here, self._answers, loop), daemon=True).start()

    def end(self) -> None:
        """End the process: first kindly, so that nothing half-written stays, then for sure."""
        process, self._process = self._process, None
        if process is not None:
            (process.kill if self._kind == "computes" else process.terminate)()
            process.join(SECONDS_TO_TIDY)
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

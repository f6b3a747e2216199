"""Long work: begun, told of, called off. What runs lives in processes of its own; results live in memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import Any

from incrowd.common.records import dataclass
from incrowd.studio.events import Events
from incrowd.studio.refusing import Cancelled, Refused, error_of
from incrowd.studio.worker import TaskFailed

MOST_KEPT = 100
"""So many jobs that have ended are remembered."""


@dataclass(eq=False)
class Job:
    """One piece of work, how far it is, and what came of it."""

    id: str
    project: str
    kind: str
    version: int
    asked: dict[str, Any]
    state: str = "waiting"
    stage: str = ""
    done: float = 0.0
    began: float = field(default_factory=time.time)
    ended: float | None = None
    error: dict[str, Any] | None = None
    found: dict[str, Any] = field(default_factory=dict)
    told: int = 0
    """How often a part came: one that comes again holds more."""
    result: Any = None
    page: str | None = None
    task: asyncio.Task[None] | None = None

    @property
    def runs(self) -> bool:
        """Whether it is not over yet."""
        return self.state in ("waiting", "running")

    def to_dict(self, *, whole: bool = False) -> dict[str, Any]:
        """Return plain values; the `whole` job has its result and its parts."""
        told = {
            "id": self.id,
            "project": self.project,
            "kind": self.kind,
            "version": self.version,
            "state": self.state,
            "stage": self.stage,
            "done": self.done,
            "began": self.began,
            "seconds": round((self.ended or time.time()) - self.began, 3),
            "error": self.error,
            "parts": list(self.found),
            "told": self.told,
            "asked": self.asked,
            "has_page": self.page is not None,
        }
        return {**told, "found": self.found, "result": self.result} if whole else told


Work = Callable[["Job"], Awaitable[Any]]


class Jobs:
    """All jobs of a studio."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._jobs: dict[str, Job] = {}
        self._number = 0

    def begin(self, project: str, kind: str, version: int, asked: dict[str, Any], work: Work) -> Job:
        """Begin a job; one of the same kind that still runs for the project is called off."""
        for other in self.of(project):
            if other.kind == kind and other.runs:
                self.cancel(other)
        self._number += 1
        job = Job(f"j{self._number}", project, kind, version, asked)
        self._jobs[job.id] = job
        self._forget_old()
        job.task = asyncio.get_running_loop().create_task(self._run(job, work))
        return job

    def get(self, name: str) -> Job:
        """Return a job by its name."""
        if name not in self._jobs:
            raise Refused(404, "there is no such job.", hint="it may be of an earlier run of the studio")
        return self._jobs[name]

    def of(self, project: str) -> list[Job]:
        """Return the jobs of a project, the oldest first."""
        return [job for job in self._jobs.values() if job.project == project]

    def cancel(self, job: Job) -> None:
        """Call a job off."""
        if job.runs and job.task is not None:
            job.task.cancel()

    async def end(self) -> None:
        """Call everything off, and wait for it."""
        tasks = [job.task for job in self._jobs.values() if job.runs and job.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def tell(self, job: Job) -> None:
        """Tell the pages how far a job is."""
        self._events.tell("job", job.to_dict())

    def progress(self, job: Job) -> Callable[[str, float], None]:
        """Return what notes how far a job is."""

        def note(stage: str, done: float) -> None:
            job.stage, job.done = stage, done
            self.tell(job)

        return note

    def part(self, job: Job) -> Callable[[str, Any], None]:
        """Return what takes a part of a job's result."""

        def note(name: str, found: Any) -> None:
            job.found[name] = found
            job.told += 1
            self.tell(job)

        return note

    async def _run(self, job: Job, work: Work) -> None:
        job.state = "running"
        self.tell(job)
        try:
            job.result = await work(job)
            job.state, job.done = "done", 1.0
        except (asyncio.CancelledError, Cancelled):
            job.state = "cancelled"
        except TaskFailed as failed:
            job.state, job.error = "failed", failed.error
        except Exception as error:  # whatever it is, nobody else hears of it: a job that ended says so
            job.state, job.error = "failed", error_of(error)
        finally:
            job.ended = time.time()
            self.tell(job)

    def _forget_old(self) -> None:
        over = [name for name, job in self._jobs.items() if not job.runs]
        for name in over[: max(0, len(over) - MOST_KEPT)]:
            del self._jobs[name]

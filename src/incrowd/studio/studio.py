"""All that a running studio has: folders, projects, jobs, those who listen."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from incrowd.common import systems
from incrowd.common.version import __version__
from incrowd.core.release_directory import require_free
from incrowd.planning.compare.comparison import LOSSES, RISKS, Comparison, Outcome
from incrowd.studio.allowed import UPLOAD_LIMIT, Folders, PrivatePlace
from incrowd.studio.events import Events
from incrowd.studio.history import History
from incrowd.studio.jobs import Job, Jobs
from incrowd.studio.projects import BENCH, PARTS, Project, project_id, shown_location
from incrowd.studio.refusing import Cancelled, Refused
from incrowd.studio.worker import TaskFailed, Worker, WorkerDied

SCREENS = ("open", "roles", "hierarchies", "try", "compare", "attack", "publish")
_ID = re.compile(r"[0-9a-f]{16}")
ALONE = 5
"""How nice processes are to all others that measure and attack for long."""
_WRITING = ("publish", "evidence")


def state_folder() -> Path:
    """Return where recipes are remembered, by the rules of the system."""
    given = os.environ.get("XDG_STATE_HOME") or (os.environ.get("LOCALAPPDATA") if systems.WINDOWS else None)
    root = Path(given) if given else Path.home() / ".local" / "state"
    return root / "incrowd" / "studio"


class Studio:
    """One running studio."""

    def __init__(
        self, folders: list[Path], *, store: Path | None, upload_limit: int = UPLOAD_LIMIT, eager: bool = True
    ) -> None:
        self.folders = Folders(folders)
        self.place = PrivatePlace()
        self.store = store
        self.upload_limit = upload_limit
        self.eager = eager
        """Whether what a first try needs is prepared before anybody asks for one."""
        self.events = Events()
        self.jobs = Jobs(self.events)
        self.projects: dict[str, Project] = {}
        self.uploads: dict[str, Path] = {}
        self.stop: Callable[[], None] = lambda: None
        self.new_link: Callable[[], str] = lambda: ""
        self._background: set[asyncio.Task[Any]] = set()

    def state(self, current: str | None = None, screen: str | None = None) -> dict[str, Any]:
        """Return what a page begins with."""
        project = None
        if current is not None:
            project = self.described(self.project(current))
        elif self.projects:
            project = self.described(list(self.projects.values())[-1])
        return {
            "name": "incrowd studio",
            "version": __version__,
            "screen": screen if screen in SCREENS else None,
            "screens": list(SCREENS),
            "folders": [str(folder) for folder in self.folders.folders],
            "upload_limit": self.upload_limit,
            "projects": [one.brief() for one in self.projects.values()],
            "recent": self._recent(),
            "current": project,
        }

    def with_text(self, state: dict[str, Any]) -> dict[str, Any]:
        """Return a state with the recipe as text, for the first look at a page."""
        current = state["current"]
        if current is None or current["recipe"] is None:
            return state
        return {**state, "current": {**current, "text": self.projects[current["id"]].texts()}}

    def described(self, project: Project) -> dict[str, Any]:
        """Return a project with its jobs."""
        return {**project.to_dict(), "jobs": [job.to_dict() for job in self.jobs.of(project.id)]}

    def tell(self, project: Project) -> None:
        """Tell the pages that a project is another one now."""
        self.events.tell("project", project.to_dict())

    def project(self, name: str) -> Project:
        """Return a project by its name; one of an earlier run is opened again."""
        if name not in self.projects:
            again = self._stored(name)
            if again is None:
                raise Refused(404, "there is no such project.", hint="open its table")
            return again
        return self.projects[name]

    def open(self, location: str, options: dict[str, Any], *, uploaded: Path | None = None) -> Project:
        """Open a table; one that is open already is returned."""
        name = Path(location).name if "://" not in location else shown_location(location).rpartition("/")[2]
        id = secrets.token_hex(8) if uploaded else project_id(location, options.get("query"))
        if id in self.projects:
            return self.projects[id]
        project = Project(id, name, location, uploaded=uploaded is not None, history=self._history(id))
        project.history.describe({"name": name, "location": shown_location(location), "uploaded": project.uploaded})
        self.projects[id] = project
        if self.eager:
            self.later(project.bench.do("warm up", {}))
        stated = options or project.read_options
        self.begin_open(project, stated)
        return project

    def begin_open(self, project: Project, options: dict[str, Any], *, label: str = "opened") -> Job:
        """Begin to read a table, and to profile it."""
        project.state, project.error = "opening", None
        asked = {"kind": "open", "options": options}
        job = self.jobs.begin(
            project.id, "open", project.history.version, asked, lambda job: self._open(project, job, options, label)
        )
        self.tell(project)
        return job

    async def _open(self, project: Project, job: Job, options: dict[str, Any], label: str) -> dict[str, Any]:
        def part(name: str, found: Any) -> None:
            if name == "found":
                project.opened = found
            else:
                project.profile = found
            self.jobs.part(job)(name, found)

        asked = {"location": project.location, "options": options, "recipe": str(project.recipe_path)}
        try:
            project.opened_by = None
            found = await project.desk.do("open", asked, self.jobs.progress(job), part)
            project.opened_by = project.desk.restarted
            if project.history.recipe is None or label != "opened":
                project.with_source(found["recipe"], label)
            project.state = "ready"
        except TaskFailed as failed:
            project.state, project.error = "failed", failed.error
            raise
        except BaseException:
            project.state = "failed" if project.profile is None else "ready"
            raise
        finally:
            self.tell(project)
        if self.eager:
            self.later(project.bench.do("prepare", project.asked()))
        return {}

    def later(self, work: Any) -> None:
        """Do something that nobody waits for."""

        async def quietly() -> None:
            with suppress(TaskFailed, Cancelled):  # whoever needs it will do it again, and be told
                await work

        task = asyncio.get_running_loop().create_task(quietly())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def on_desk(self, project: Project, task: str, asked: dict[str, Any]) -> Any:
        """Ask the process that looks at the table."""
        if project.state != "ready":
            raise Refused(409, "the table is not open yet.", hint="wait until it is", kind="NotOpen")
        try:
            if project.desk.is_alive and project.opened_by == project.desk.restarted:
                return await _answered(project.desk.do(task, asked))
        except WorkerDied:
            pass
        # The process that had the table is gone, or was called off while it read it in another way.
        self.begin_open(project, project.read_options)
        raise Refused(409, "the table must be read again.", hint="wait until it is", kind="NotOpen")

    async def on_bench(self, project: Project, task: str, asked: dict[str, Any]) -> Any:
        """Ask the process that holds the last try."""
        try:
            return await _answered(project.bench.do(task, asked))
        except WorkerDied as died:
            self._forget_rows(project)
            raise _refused(died) from None
        except Refused as refused:
            if refused.status == 410:  # another process, which does not know of them
                self._forget_rows(project)
            raise

    def _forget_rows(self, project: Project) -> None:
        """Note that no try's rows can be shown any more."""
        for other in project.tries:
            other["rows_here"] = False
        self.tell(project)

    def begin(self, project: Project, kind: str, asked: dict[str, Any]) -> Job:
        """Begin long work on a project."""
        project.history.require(asked.get("version"))
        if project.state != "ready":
            raise Refused(409, "the table is not open.", hint="open it first", kind="NotOpen")
        if project.problems():
            raise Refused(422, project.problems()[0]["message"], hint=project.problems()[0]["hint"], kind="RecipeError")
        kinds = {
            "try": self._try,
            "compare": self._compare,
            "audit": self._audit,
            "ladder": self._ladder,
            "publish": self._publish,
            "evidence": self._evidence,
        }
        if kind not in kinds:
            raise Refused(400, "there is no such kind of job.", hint=f"it is one of {', '.join(kinds)}")
        if kind == "publish":
            asked = {**asked, "directory": str(self.target(project, asked.get("directory"), asked))}
        if kind == "compare":
            _require_axes(asked)
        if kind == "evidence" or (kind == "audit" and asked.get("published")):
            project.one_published(str(asked.get("published")))
        # Folders may be others than when this recipe was written, and links may lead elsewhere by now.
        self.folders.require_recipe(project.recipe, project.base, project.own_folder)
        task, needed = kinds[kind], project.asked()
        return self.jobs.begin(project.id, kind, project.history.version, asked, lambda job: task(project, job, needed))

    def target(self, project: Project, directory: Any, asked: dict[str, Any]) -> Path:
        """Return where a release is to go, or refuse it before any work."""
        if project.uploaded and not directory:
            folder = Path(project.location).parent / f"release-{secrets.token_hex(4)}"
            return folder / f"{project.stem}-release"
        if not isinstance(directory, str) or not directory:
            raise Refused(400, "say where the release is to go.", hint="directory: a folder that is not there yet")
        target = self.folders.require(directory)
        require_free(target, force=bool(asked.get("force")))
        return target

    async def _try(self, project: Project, job: Job, needed: dict[str, Any]) -> dict[str, Any]:
        name = project.next_id("t")
        part, progress = self.jobs.part(job), self.jobs.progress(job)
        sample = await project.bench.do("try sample", needed, progress)
        tried: dict[str, Any] = {
            "id": name,
            "version": job.version,
            "at": time.time(),
            "name": sample["name"],
            "recipe_parts": {key: needed["recipe"][key] for key in PARTS if key in needed["recipe"]},
            "released": None,
            "point": None,
            "sample": sample,
            "rows_here": False,
        }
        part("sample", sample)
        self._forget_rows(project)  # the next release takes the place of the last one
        released = await project.bench.do("try", {**needed, "try": name}, progress)
        tried["released"] = released
        project.tries.append(tried)
        part("exact", {**released, "try": name})
        self.tell(project)
        part("rows", await project.bench.do("link rows", {"try": name}, progress))
        tried["rows_here"] = True
        self.tell(project)
        if sample["rows"] == released["rows_in"] and not sample["failed"]:
            measured = {**sample, "basis": "all rows"}
        else:
            measured = await self._alone("measure", needed, job)
        tried["point"] = {**measured, "rows": released["rows_in"]}
        part("measured", tried["point"])
        self.tell(project)
        return tried

    async def _compare(self, project: Project, job: Job, needed: dict[str, Any]) -> dict[str, Any]:
        axes = {"risk": job.asked.get("risk", "mean"), "loss": job.asked.get("loss", "queries")}
        found = await self._alone("compare", {**needed, **axes}, job)
        job.page = found.pop("page")
        return {**found, "tries": tries_on(project, **axes)}

    async def _audit(self, project: Project, job: Job, needed: dict[str, Any]) -> dict[str, Any]:
        published = job.asked.get("published")
        asked = {
            "learn": bool(job.asked.get("learn", False)),
            "remedies": bool(job.asked.get("remedies", False)),
            "directory": project.one_published(published)["directory"] if published else None,
        }
        found = await self._alone("audit", {**needed, **asked}, job)
        job.page = found["page"]
        audit: dict[str, Any] = found["audit"]
        return audit

    async def _ladder(self, project: Project, job: Job, needed: dict[str, Any]) -> dict[str, Any]:
        last = next((tried["id"] for tried in reversed(project.tries) if tried["rows_here"]), None)
        same = last is not None and project.one_try(last)["version"] == job.version
        asked = {**needed, "try": last if same else f"ladder of {job.version}", "seed": secrets.randbits(32)}
        if not same:
            self._forget_rows(project)
        found: dict[str, Any] = await project.bench.do("ladder", asked, self.jobs.progress(job))
        return found

    async def _publish(self, project: Project, job: Job, needed: dict[str, Any]) -> dict[str, Any]:
        asked = {
            "directory": job.asked["directory"],
            "format": job.asked.get("format"),
            "force": bool(job.asked.get("force")),
            "spreadsheet_safe": bool(job.asked.get("spreadsheet_safe")),
        }
        found = await self._alone("publish", {**needed, **asked}, job)
        release = {
            "id": project.next_id("p"),
            "at": time.time(),
            "version": job.version,
            "command": project.texts()["command"],
            "downloaded_only": project.uploaded and Path(found["directory"]).is_relative_to(self.place.path),
            **found,
        }
        project.published.append(release)
        self.tell(project)
        return release

    async def _evidence(self, project: Project, job: Job, needed: dict[str, Any]) -> dict[str, Any]:
        release = project.one_published(job.asked["published"])
        asked = {"directory": release["directory"], "learn": bool(job.asked.get("learn", False))}
        found = await self._alone("evidence", {**needed, **asked}, job)
        job.page = found.pop("page")
        return found

    async def _alone(self, task: str, asked: dict[str, Any], job: Job) -> dict[str, Any]:
        """Do a task in a process that is there for it alone."""
        worker = Worker("writes", nice=BENCH) if task in _WRITING else Worker("computes", nice=ALONE)
        try:
            found: dict[str, Any] = await worker.do(task, asked, self.jobs.progress(job), self.jobs.part(job))
            return found
        finally:
            await asyncio.to_thread(worker.end)

    async def end(self) -> None:
        """End everything that was begun, and take away what was dropped."""
        self.events.close()
        await self.jobs.end()
        for task in list(self._background):
            task.cancel()
        await asyncio.gather(*(asyncio.to_thread(project.end) for project in self.projects.values()))
        self.place.close()

    async def forget(self, project: Project) -> None:
        """Close a project and remove its history; the table stays as it is."""
        for job in self.jobs.of(project.id):
            self.jobs.cancel(job)
        del self.projects[project.id]
        project.history.forget()
        await asyncio.to_thread(project.end)
        if project.uploaded:
            self.place.remove(Path(project.location))

    def _history(self, id: str) -> History:
        return History(None if self.store is None else self.store / f"{id}.jsonl")

    def _recent(self) -> list[dict[str, Any]]:
        """Return tables of earlier runs: which, and nothing else of them."""
        if self.store is None or not self.store.is_dir():
            return []
        found = []
        for file in sorted(self.store.glob("*.jsonl"), key=lambda one: one.stat().st_mtime, reverse=True)[:20]:
            about = _about(file)
            if about is not None and file.stem not in self.projects:
                found.append({"id": file.stem, "name": about["name"], "path": about["location"]})
        return found

    def _stored(self, id: str) -> Project | None:
        """Open a project of an earlier run again, where its table may be opened."""
        file = None if self.store is None else self.store / f"{id}.jsonl"
        if not _ID.fullmatch(id) or file is None or not file.is_file():
            return None
        about = _about(file)
        if about is None:
            return None
        if not about["uploaded"]:
            location = about["location"]
            if "://" in location:
                location = self.folders.require_location(location)
            else:
                location = str(self.folders.require(location))
            return self.open(location, {})
        project = Project(id, about["name"], about["location"], uploaded=True, history=self._history(id))
        project.state = "needs file"
        self.projects[id] = project
        return project


def tries_on(project: Project, risk: str, loss: str) -> list[dict[str, Any]]:
    """Return a project's own tries on the axes of a comparison."""
    found = []
    for tried in project.tries:
        point = tried["point"] or tried["sample"]
        if point and not point["failed"] and loss in point["losses"] and risk in point["risks"]:
            told = {"id": tried["id"], "name": tried["name"], "basis": point["basis"]}
            found.append({**told, "risk": point["risks"][risk], "loss": point["losses"][loss]})
    return found


def on_other_axes(outcomes: list[dict[str, Any]], risk: str, loss: str) -> dict[str, Any]:
    """Return a comparison on other axes; nothing is made again."""
    _require_axes({"risk": risk, "loss": loss})
    return Comparison(tuple(Outcome.from_dict(one) for one in outcomes), risk, loss).to_dict()


def _require_axes(asked: dict[str, Any]) -> None:
    if asked.get("risk", "mean") not in RISKS or asked.get("loss", "queries") not in LOSSES:
        raise Refused(
            400, "there is no such risk or loss.", hint=f"risks: {', '.join(RISKS)}; losses: {', '.join(LOSSES)}"
        )


def _about(file: Path) -> dict[str, Any] | None:
    try:
        with file.open(encoding="utf-8") as lines:
            found = json.loads(lines.readline())["about"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, dict) else None


async def _answered(work: Any) -> Any:
    try:
        return await work
    except WorkerDied:
        raise
    except TaskFailed as failed:
        raise _refused(failed) from None


def _refused(failed: TaskFailed) -> Refused:
    refused = Refused(failed.status, failed.error["message"])
    refused.error = failed.error
    return refused

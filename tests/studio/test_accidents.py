"""Processes that are killed, disks that are full, work that is called off: what is said, what is left, what goes on."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest

import incrowd as ic
from incrowd.studio.projects import Project
from tests.short_files import no_longer_than
from tests.studio.running import Browser, Running, running


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("accidents") / "people.csv"
    ic.datasets.census(400, seed=4).select("age", "sex", "education", "occupation").write_csv(path)
    return path


@pytest.fixture(scope="module")
def one(place: Path) -> Iterator[Running]:
    with running(place.parent) as studio:
        yield studio


@pytest.fixture(scope="module")
def browser(one: Running) -> Browser:
    return one.browser()


@pytest.fixture(scope="module")
def project(browser: Browser, place: Path) -> dict[str, Any]:
    return browser.open(place)


def at(project: dict[str, Any]) -> str:
    return f"/api/projects/{project['id']}"


def inner(one: Running, project: dict[str, Any]) -> Project:
    return one.studio.projects[project["id"]]


def begun(browser: Browser, project: dict[str, Any], kind: str, stage: str = "", **asked: Any) -> str:
    """Begin a job, and wait until it has got somewhere."""
    version = browser.get(at(project)).json["version"]
    job: str = browser.post(at(project) + "/jobs", {"kind": kind, "version": version, **asked}).json["id"]
    until = time.monotonic() + 60
    while True:
        now = browser.get(f"/api/jobs/{job}").json
        assert now["state"] in ("waiting", "running"), now["error"]
        if now["stage"] and stage in now["stage"]:
            return job
        assert time.monotonic() < until
        time.sleep(0.005)


def alone(one: Running, project: dict[str, Any]) -> list[int]:
    """The processes that do one job each."""
    kept = {inner(one, project).desk._process, inner(one, project).bench._process}
    return [child.pid for child in active_children() if child not in kept and child.pid is not None]


def test_a_process_of_tries_that_is_killed(one: Running, browser: Browser, project: dict[str, Any]) -> None:
    job = browser.job(project, "try")
    assert job["state"] == "done", job["error"]
    where = f"{at(project)}/tries/{job['result']['id']}/rows?limit=2"
    assert browser.get(where).status == 200
    os.kill(inner(one, project).bench._process.pid, signal.SIGKILL)  # as a machine does that runs out of memory
    until = time.monotonic() + 10
    while browser.get(where).status == 200:
        assert time.monotonic() < until
    assert browser.get(where).status == 410
    assert [tried["rows_here"] for tried in browser.get(at(project)).json["tries"]] == [False]
    again = browser.job(project, "try")
    assert again["state"] == "done", again["error"]
    assert again["result"]["point"] == {**job["result"]["point"], "seconds": again["result"]["point"]["seconds"]}


def test_a_process_that_has_the_table_is_killed(one: Running, browser: Browser, project: dict[str, Any]) -> None:
    where = at(project) + "/hierarchies/age"
    before = browser.get(where).json
    os.kill(inner(one, project).desk._process.pid, signal.SIGKILL)
    until = time.monotonic() + 60
    seen = set()
    while (found := browser.get(where)).status != 200 or not seen:  # it is read again by itself
        seen.add(found.status)
        assert time.monotonic() < until
        time.sleep(0.02)
    assert 409 in seen
    assert found.json == before


def test_a_process_that_dies_in_the_middle_of_its_work_and_a_full_disk(
    one: Running, browser: Browser, project: dict[str, Any], place: Path
) -> None:
    """One after the other, to one place; and in the end it is published there."""
    target = place.parent / "killed"
    before = sorted(place.parent.iterdir())
    job = begun(browser, project, "publish", directory=str(target))
    for process in alone(one, project):
        os.kill(process, signal.SIGKILL)
    ended = browser.wait(job)
    assert ended["state"] == "failed"
    assert "has ended" in ended["error"]["message"]
    assert ended["error"]["hint"]
    assert not target.exists()
    assert browser.get(at(project)).json["published"] == []
    left = sorted(place.parent.iterdir())
    with no_longer_than(2_000):
        failed = browser.job(project, "publish", directory=str(target))
    assert failed["state"] == "failed"
    assert failed["error"]["kind"] == "OutputError", failed["error"]
    assert set(place.parent.iterdir()) <= {*before, *left}
    again = browser.job(project, "publish", directory=str(target))
    assert again["state"] == "done", again["error"]
    assert ic.open_release(target).rows == again["result"]["summary"]["rows"]["published"]
    assert sorted(place.parent.iterdir()) == sorted([*before, target])


@pytest.mark.parametrize("kind", ["compare", "publish", "try"])
def test_what_is_called_off_stops_within_a_second(
    one: Running, browser: Browser, project: dict[str, Any], place: Path, kind: str
) -> None:
    target = place.parent / f"off-{kind}"
    asked = {"directory": str(target)} if kind == "publish" else {}
    job = begun(browser, project, kind, **asked)
    began = time.perf_counter()
    assert browser.ask("DELETE", f"/api/jobs/{job}").status == 200
    assert browser.wait(job)["state"] == "cancelled"
    assert time.perf_counter() - began < 10  # one, on a machine that does nothing else
    assert alone(one, project) == []
    assert not target.exists()
    if kind == "try":  # and the process that tries is still of use
        again = browser.job(project, "try")
        assert again["state"] == "done", again["error"]

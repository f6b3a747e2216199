"""Events, two tabs, dropped files; `test_page_more_walks.py` kills a studio and starts it again."""

from __future__ import annotations

import http.client
import json
import stat
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from tests.studio.running import Browser, Running, running


class Listener:
    """An EventSource."""

    def __init__(self, browser: Browser) -> None:
        self.link = http.client.HTTPConnection("127.0.0.1", browser.port, timeout=30)
        self.link.request("GET", f"{browser.room}/api/events", headers={"Cookie": browser.cookie or ""})
        self.answer = self.link.getresponse()

    def next(self) -> tuple[str, Any]:
        event = data = ""
        while True:
            line = self.answer.fp.readline().decode().rstrip("\n").rstrip("\r")
            if not self.answer.chunked or not line or set(line) <= set("0123456789abcdef"):
                if event and data:
                    return event, json.loads(data)
                continue
            if line.startswith("event: "):
                event = line.removeprefix("event: ")
            elif line.startswith("data: "):
                data = line.removeprefix("data: ")

    def until(self, event: str) -> Any:
        while True:
            found, data = self.next()
            if found == event:
                return data


def test_both_tabs_hear_of_a_change(browser: Browser, studio: Running, project: dict[str, Any]) -> None:
    listener = Listener(studio.browser())
    assert listener.answer.getheader("content-type", "").startswith("text/event-stream")
    assert listener.until("hello")["state"]["name"] == "incrowd studio"
    changed = browser.patch(project, (["models", 0, "k"], 11))
    heard = listener.until("project")
    assert (heard["version"], heard["recipe"]) == (changed["version"], changed["recipe"])
    browser.post(f"/api/projects/{project['id']}/undo", {"version": changed["version"]})
    listener.link.close()


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "data" / "small.csv"
    path.parent.mkdir()
    ic.datasets.census(150, seed=5).write_csv(path)
    return path


def test_a_dropped_file_is_asked_for_again(small: Path, tmp_path: Path) -> None:
    """And nothing of it is left on the disk, but for the categories that the recipe lists."""
    named = pl.read_csv(small).with_columns(name=pl.Series([f"Canary {place}" for place in range(150)]))
    content, state = named.write_csv().encode(), tmp_path / "state"
    with running(tmp_path, store=state) as one:
        browser = one.browser()
        upload = browser.post("/api/uploads?name=dropped.csv", None, raw=content).json["upload"]
        made = browser.post("/api/projects", {"upload": upload}).json
        browser.wait(made["jobs"][0]["id"])
        project = browser.get(f"/api/projects/{made['id']}").json
        assert (project["uploaded"], project["path"], project["recipe"]["source"]["path"]) == (
            True,
            None,
            "dropped.csv",
        )
        changed = browser.patch(project, (["models", 0, "k"], 6))
        job = browser.job(project, "publish")
        assert job["state"] == "done", job["error"]
        assert browser.get(f"/api/projects/{made['id']}/published/{job['result']['id']}/zip").status == 200
        recipe = browser.get(f"/api/projects/{made['id']}/published/{job['result']['id']}/files/recipe.toml").body
        assert str(one.studio.place.path).encode() not in recipe
        assert browser.post(f"/api/projects/{made['id']}/singling", {"columns": ["name"]}).json["together"]["k"] == 1
        place = one.studio.place.path
    assert not place.exists()
    left = [path for path in tmp_path.rglob("*") if path.is_file() and b"Canary" in path.read_bytes()]
    assert not left
    assert [stat.S_IMODE(path.stat().st_mode) for path in state.glob("*.jsonl")] == [0o600]
    with running(tmp_path, store=state) as one:
        browser = one.browser()
        assert [recent["id"] for recent in browser.get("/api/state").json["recent"]] == [made["id"]]
        found = browser.get(f"/api/projects/{made['id']}").json
        assert (found["state"], found["recipe"]) == ("needs file", changed["recipe"])
        again = browser.post(f"/api/projects/{made['id']}/file?name=dropped.csv", None, raw=content)
        assert again.status == 200
        for job in again.json["jobs"]:
            browser.wait(job["id"])
        ready = browser.get(f"/api/projects/{made['id']}").json
        assert (ready["state"], ready["recipe"]) == ("ready", changed["recipe"])


def test_read_in_another_way_or_not_at_all(small: Path, tmp_path: Path) -> None:
    odd = small.parent / "odd.csv"
    odd.write_text(small.read_text(encoding="utf-8").replace(",", ";"), encoding="utf-8")
    with running(small.parent) as one:
        browser = one.browser()
        project = browser.open(odd)
        where = f"/api/projects/{project['id']}"
        assert project["recipe"]["source"]["separator"] == ";"
        browser.patch(project, (["columns", "age", "role"], "sensitive"), remove=[["columns", "age", "hierarchy"]])
        now = browser.get(where).json
        job = browser.post(
            where + "/reading", {"version": now["version"], "options": {"separator": ";", "missing": ["?"]}}
        )
        assert job.status == 202
        assert browser.wait(job.json["id"])["state"] == "done"
        after = browser.get(where).json
        assert after["recipe"]["source"]["missing"] == ["?"]
        assert after["recipe"]["columns"]["age"]["role"] == "sensitive"
        assert after["can_undo"] == "read in another way"
        assert browser.post(where + "/reading", {"version": after["version"], "options": {"nonsense": 1}}).status == 400
        # A file that is no table says so, and nothing can be done with it.
        (small.parent / "empty.csv").write_text("", encoding="utf-8")
        found = browser.open(small.parent / "empty.csv")
        assert found["state"] == "failed"
        assert found["error"]["message"]
        asked = {"kind": "try", "version": found["version"]}
        assert browser.post(f"/api/projects/{found['id']}/jobs", asked).status == 409

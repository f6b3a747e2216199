"""How long the studio lets a person wait: every request that a screen makes, and the parts of a try.

`python -m benchmarks.studio --rows 1e6` opens a census, asks everything while nothing else is done and again while a
try is measured, and prints both. Seconds by the clock are what a person feels; seconds of CPU, of the server and its
processes together, say how much of them is the studio's own doing on a machine that others use, too.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rich.console import Console
from rich.table import Table

from benchmarks.tables import census_file

_TIMES = 9
_PARTS = ("sample", "exact", "rows", "measured")
_ENDED = ("done", "failed", "cancelled")
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Took:
    """What one request took."""

    wall: float
    cpu: float
    status: int
    found: bytes


class Client:
    """A browser without a screen."""

    def __init__(self, link: str, process: int) -> None:
        parts = urlsplit(link)
        self._host, self.process = parts.netloc, process
        self._headers = {"Origin": f"http://{parts.netloc}"}
        self._room = ""
        _, answer = self._send("GET", f"/?{parts.query}", None)
        self._headers["Cookie"] = str(answer.getheader("set-cookie")).partition(";")[0]
        self._room = str(answer.getheader("location")).rstrip("/")

    def _send(self, method: str, path: str, body: Any) -> tuple[bytes, http.client.HTTPResponse]:
        link = http.client.HTTPConnection(self._host, timeout=600)
        more = {} if body is None else {"Content-Type": "application/json"}
        link.request(method, self._room + path, None if body is None else json.dumps(body), {**self._headers, **more})
        answer = link.getresponse()
        return answer.read(), answer

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Return an answer's JSON."""
        found, answer = self._send(method, path, body)
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {found.decode()[:300]}")
        return json.loads(found)

    def time(self, method: str, path: str, body: Any = None) -> Took:
        """Ask, and return how long that took."""
        wall, cpu = time.perf_counter(), cpu_of(self.process)
        found, answer = self._send(method, path, body)
        wall = time.perf_counter() - wall
        return Took(wall, cpu_of(self.process) - cpu, answer.status, found)


def cpu_of(process: int) -> float:
    """Return the seconds of CPU that a process and those that it started have used so far."""
    seconds = 0.0
    for one in [process, *_children(process)]:
        try:
            fields = Path(f"/proc/{one}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        except OSError:
            continue
        # Its own, and that of processes that it had and that have ended.
        seconds += sum(int(fields[place]) for place in (11, 12, 13, 14)) / _TICK
    return seconds


def _children(process: int) -> list[int]:
    found = []
    for thread in Path(f"/proc/{process}/task").iterdir():  # each has those that it has started
        with suppress(OSError):
            found += (thread / "children").read_text(encoding="ascii").split()
    return [int(one) for one in found]


@contextmanager
def studio(file: Path) -> Iterator[Client]:
    """Start the studio as a person does."""
    with tempfile.TemporaryDirectory() as state:
        command = [sys.executable, "-m", "incrowd", "studio", str(file), "--no-browser"]
        environment = {**os.environ, "XDG_STATE_HOME": state}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            try:
                assert process.stdout is not None
                link = next(line.strip() for line in process.stdout if line.strip().startswith("http"))
                yield Client(link, process.pid)
            finally:
                process.terminate()
                process.wait(30)


@dataclass
class Walk:
    """One table on its way through the studio."""

    client: Client
    project: str
    polls: list[Took]

    @property
    def at(self) -> str:
        """The address of the project."""
        return f"/api/projects/{self.project}"

    def watch(self, job: str, until: str = "") -> dict[str, str]:
        """Ask for a job until it is over, or has a part; return when each part was there, by the clock and of CPU."""
        wall, cpu, seen = time.perf_counter(), cpu_of(self.client.process), dict[str, str]()
        while True:
            self.polls.append(self.client.time("GET", f"/api/jobs/{job}"))
            found = json.loads(self.polls[-1].found)
            used = cpu_of(self.client.process) - cpu
            for part in found["found"]:
                seen.setdefault(part, f"{time.perf_counter() - wall:.2f} ({used:.1f})")
            if found["state"] in _ENDED or until in seen:
                if found["state"] == "failed":
                    raise RuntimeError(found["error"]["message"])
                return seen
            time.sleep(0.05)

    def begin(self, kind: str, **asked: Any) -> str:
        """Begin long work."""
        version = self.client.ask("GET", self.at)["version"]
        return str(self.client.ask("POST", f"{self.at}/jobs", {"kind": kind, "version": version, **asked})["id"])

    def set(self, path: list[Any], value: Any) -> None:
        """Change the recipe."""
        version = self.client.ask("GET", self.at)["version"]
        self.client.ask("PATCH", f"{self.at}/recipe", {"version": version, "set": [[path, value]]})

    def asked(self) -> dict[str, tuple[str, str, Any]]:
        """Return every request that a screen makes, by what it is."""
        now = self.client.ask("GET", self.at)
        columns = now["recipe"]["columns"]
        quasi = [name for name, told in columns.items() if told["role"] == "quasi"]
        found: dict[str, tuple[str, str, Any]] = {
            "the page": ("GET", f"/project/{self.project}/try", None),
            "state": ("GET", "/api/state", None),
            "catalogue": ("GET", "/api/catalogue", None),
            "files": ("GET", "/api/files", None),
            "project": ("GET", self.at, None),
            "what was found out": ("GET", f"{self.at}/opened", None),
            "profile": ("GET", f"{self.at}/profile", None),
            "recipe as texts": ("GET", f"{self.at}/text", None),
            "history": ("GET", f"{self.at}/history", None),
            "places": ("GET", f"{self.at}/places", None),
            "tries": ("GET", f"{self.at}/tries", None),
            "singling out, four columns": ("POST", f"{self.at}/singling", {"columns": quasi[:4]}),
        }
        for name in quasi:
            found[f"hierarchy of {name}"] = ("GET", f"{self.at}/hierarchies/{name}", None)
        first = quasi[0]
        edit = {"edit": {"action": "cuts", "level": 1, "cuts": [30, 50, 70]}}
        found[f"edit of {first}"] = ("POST", f"{self.at}/hierarchies/{first}/edit", edit)
        here = [one["id"] for one in now["tries"] if one["rows_here"]]
        for tried in here[-1:]:
            total = self.client.ask("GET", f"{self.at}/tries/{tried}/rows?limit=1")["total"]
            at = f"{self.at}/tries/{tried}/rows"
            found |= {
                "rows": ("GET", f"{at}?limit=50", None),
                "rows in the middle": ("GET", f"{at}?limit=50&offset={total // 2}", None),
                "rows that changed": ("GET", f"{at}?limit=50&show=changed", None),
                "rows withheld": ("GET", f"{at}?limit=50&show=withheld", None),
                "why a row": ("GET", f"{at}/{total // 3}/why", None),
            }
        return found

    def times(self) -> dict[str, list[Took]]:
        """Ask everything several times."""
        asked = self.asked()
        taken: dict[str, list[Took]] = {name: [] for name in asked}
        for _ in range(_TIMES):
            for name, request in asked.items():
                taken[name].append(self.client.time(*request))
        return taken


def measure(console: Console, file: Path) -> None:
    """Walk one table through the studio and print what was waited for."""
    with studio(file) as client:
        began = time.perf_counter()
        current = client.ask("GET", "/api/state")["current"]
        walk = Walk(client, current["id"], [])
        for job in current["jobs"]:
            walk.watch(job["id"])
        opened = time.perf_counter() - began
        time.sleep(2)  # as long as anybody looks at roles
        parts = Table(title=f"{file.name}: long work (seconds until it is there; of CPU)", title_justify="left")
        for name in ("work", *_PARTS):
            parts.add_column(name, justify="left" if name == "work" else "right")
        parts.add_row("opened and profiled", *[""] * 3, f"{opened:.2f} ({cpu_of(client.process):.1f})")
        walk.set(["models", 0, "k"], 5)
        job = walk.begin("try")
        found = walk.watch(job, until="rows")
        parts.add_row("first try, k = 5", *(found.get(part, "") for part in _PARTS))
        busy = walk.times()  # while all rows are measured
        cancelled = time.perf_counter()
        client.ask("DELETE", f"/api/jobs/{job}")
        walk.watch(job)
        cancelled = time.perf_counter() - cancelled
        parts.add_row("the same, called off", *[""] * 3, f"{cancelled:.2f}")
        walk.set(["models", 0, "k"], 10)
        found = walk.watch(walk.begin("try"))
        parts.add_row("next try, k = 10", *(found.get(part, "") for part in _PARTS))
        quiet = walk.times()
        console.print(parts)
    table = Table(title=f"{file.name}: requests (milliseconds)", title_justify="left")
    for name in ("request", "median", "slowest", "CPU", "while measuring", "slowest", "bytes"):
        table.add_column(name, justify="left" if name == "request" else "right")
    for name, taken in quiet.items():
        table.add_row(
            name,
            *_told(taken),
            f"{statistics.fmean(one.cpu for one in taken) * 1e3:.0f}",
            *_told(busy.get(name, [])),
            f"{len(taken[0].found):,}",
        )
    table.add_row("a job, while it goes on", *_told(walk.polls), "", "", "", "")
    console.print(table)


def _told(taken: list[Took]) -> tuple[str, str]:
    walls = [one.wall * 1e3 for one in taken]
    return (f"{statistics.median(walls):.0f}", f"{max(walls):.0f}") if walls else ("", "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, nargs="*", default=[1e6], help="sizes of the census")
    parser.add_argument("--file", type=Path, nargs="*", default=[], help="other tables, for example Adult")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "incrowd-benchmarks")
    chosen = parser.parse_args()
    chosen.cache.mkdir(parents=True, exist_ok=True)
    console = Console(width=140)
    for file in chosen.file:
        measure(console, file)
    for rows in chosen.rows:
        measure(console, census_file(int(rows), chosen.cache).path)


if __name__ == "__main__":
    main()

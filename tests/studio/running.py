"""A studio that runs, and a browser without a screen: real requests to a real server."""

from __future__ import annotations

import http.client
import json
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import uvicorn

from incrowd.studio.security import Access
from incrowd.studio.server import bound, guarded, settings
from incrowd.studio.studio import Studio


class Answer:
    def __init__(self, found: http.client.HTTPResponse) -> None:
        self.status = found.status
        self.headers = {name.lower(): value for name, value in found.getheaders()}
        self.body = found.read()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        return self.json["error"]


class Browser:
    """Sends what a browser on the studio's own page sends."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.cookie: str | None = None
        self.room = ""
        """What addresses of the page begin with."""
        self.slowest = 0.0

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: dict[str, str | None] | None = None,
        raw: bytes | None = None,
    ) -> Answer:
        sent: dict[str, str | None] = {"Host": f"127.0.0.1:{self.port}"}
        if self.cookie is not None:
            sent["Cookie"] = self.cookie
        if method != "GET":
            sent["Origin"] = f"http://127.0.0.1:{self.port}"
        content = raw
        if body is not None:
            content = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        sent |= headers or {}
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        began = time.perf_counter()
        try:
            link.putrequest(method, self.room + path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                if value is not None:
                    link.putheader(name, value)
            if content is not None and "Transfer-Encoding" not in sent:
                link.putheader("Content-Length", str(len(content)))
            link.endheaders()
            if content is not None:
                with suppress(OSError):  # refused before all of it was sent
                    link.send(content)
            return Answer(link.getresponse())
        finally:
            self.slowest = max(self.slowest, time.perf_counter() - began)
            link.close()

    def get(self, path: str, **more: Any) -> Answer:
        return self.ask("GET", path, **more)

    def post(self, path: str, body: Any, **more: Any) -> Answer:
        return self.ask("POST", path, body, **more)

    def enter(self, link: str) -> Answer:
        """Open a link, keep the cookie, and go where it leads."""
        parts = urlsplit(link)
        self.room = ""
        found = self.get(f"{parts.path}?{parts.query}")
        if "set-cookie" in found.headers:
            self.cookie = found.headers["set-cookie"].partition(";")[0]
            self.room = found.headers["location"].rstrip("/")
        return found

    def wait(self, job: str, seconds: float = 90.0) -> dict[str, Any]:
        """Wait until a job is over."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            found = self.get(f"/api/jobs/{job}").json
            if found["state"] not in ("waiting", "running"):
                return found
            time.sleep(0.03)
        raise AssertionError(f"{found['kind']} is still at {found['stage']}")

    def open(self, path: Path, **options: Any) -> dict[str, Any]:
        """Open a table and wait for it."""
        found = self.post("/api/projects", {"path": str(path), "options": options})
        assert found.status == 201, found.body
        for job in found.json["jobs"]:
            self.wait(job["id"])
        return self.get(f"/api/projects/{found.json['id']}").json

    def patch(self, project: dict[str, Any], *pairs: Any, remove: Any = ()) -> dict[str, Any]:
        """Change a recipe as it is now."""
        now = self.get(f"/api/projects/{project['id']}").json["version"]
        body = {"version": now, "label": "test", "set": [list(pair) for pair in pairs], "remove": list(remove)}
        found = self.ask("PATCH", f"/api/projects/{project['id']}/recipe", body)
        assert found.status == 200, found.body
        return found.json

    def job(self, project: dict[str, Any], kind: str, **asked: Any) -> dict[str, Any]:
        """Begin a job on the recipe as it is now, and wait for it."""
        now = self.get(f"/api/projects/{project['id']}").json["version"]
        found = self.post(f"/api/projects/{project['id']}/jobs", {"version": now, "kind": kind, **asked})
        assert found.status == 202, found.body
        return self.wait(found.json["id"])


class Running:
    """A studio in a thread."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        listening = bound(0)
        self.port = listening.getsockname()[1]
        self.access = Access(self.port)
        self.server = uvicorn.Server(settings(guarded(studio, self.access)))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [listening]}, daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)

    def browser(self) -> Browser:
        found = Browser(self.port)
        found.enter(self.access.new_link())
        return found

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(20)


@contextmanager
def running(folder: Path, *, store: Path | None = None, upload_limit: int = 1 << 20) -> Any:
    """Run a studio that prepares nothing before it is asked."""
    one = Running(Studio([folder], store=store, upload_limit=upload_limit, eager=False))
    try:
        yield one
    finally:
        one.stop()


def named(column: str) -> str:
    return quote(column, safe="")

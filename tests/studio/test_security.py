"""Who is refused: other browsers, other pages, other names of this machine, other files, too much of anything."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.studio.running import Browser, Running, running

ASKED = ("/api/state", "/api/catalogue", "/api/events", "/api/projects/0123456789abcdef", "/openapi.json")


def test_second_browser_without_a_link_gets_nothing(studio: Running) -> None:
    stranger = Browser(studio.port)
    for path in ASKED:
        assert stranger.get(path).status == 401
    for path in ("/", "/static/app.js", "/project/x"):
        found = stranger.get(path)
        assert found.status == 403
        assert b"state" not in found.body
    assert stranger.get("/?token=guessed").status == 403
    stranger.cookie = f"incrowd_studio_{studio.port}=guessed"
    assert stranger.get("/api/state").status == 401


def test_a_link_works_once_and_its_cookie_is_strict(studio: Running) -> None:
    link = studio.access.new_link()
    first = Browser(studio.port)
    found = first.enter(link)
    assert (found.status, found.headers["location"]) == (303, "/")
    flags = found.headers["set-cookie"].split("; ")[1:]
    assert set(flags) == {"HttpOnly", "SameSite=Strict", "Path=/"}
    assert first.get("/api/state").status == 200
    assert Browser(studio.port).enter(link).status == 403
    assert first.enter(link).status == 303  # who is in already is only led on


def test_a_page_can_make_a_link_for_another_browser(browser: Browser, studio: Running) -> None:
    other = Browser(studio.port)
    assert other.enter(browser.post("/api/links", {}).json["url"]).status == 303
    assert other.get("/api/state").status == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", "[::1]:{port}"]
)
def test_a_forged_host_is_refused(browser: Browser, host: str) -> None:
    found = browser.get("/api/state", headers={"Host": host.format(port=browser.port)})
    assert found.status == 421
    assert found.headers["cache-control"] == "no-store"


def test_the_name_localhost_is_taken(browser: Browser) -> None:
    assert browser.get("/api/state", headers={"Host": f"localhost:{browser.port}"}).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": None},  # nothing that is sent by a page lacks it
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_what_another_page_sends_changes_nothing(browser: Browser, headers: dict[str, str | None]) -> None:
    found = browser.post("/api/links", {}, headers=headers)
    assert found.status == 403
    assert "url" not in found.json


def test_another_page_reads_nothing(browser: Browser) -> None:
    assert browser.get("/api/state", headers={"Origin": "http://evil.example"}).status == 403
    assert browser.get("/api/state", headers={"Sec-Fetch-Site": "cross-site"}).status == 403


def test_a_form_of_another_page_is_no_json(browser: Browser) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        assert browser.post("/api/links", None, raw=b"{}", headers={"Content-Type": kind}).status == 415


def test_every_answer_forbids_scripts_of_others_and_copies(browser: Browser, project: dict[str, Any]) -> None:
    for path in ("/", "/api/state", "/nothing", "/static/nothing.js", f"/api/projects/{project['id']}"):
        headers = browser.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers


def test_paths_outside_of_the_folders_are_refused(
    browser: Browser, project: dict[str, Any], table: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "secret.csv"
    outside.write_text("a,b\n1,2\n", encoding="utf-8")
    link = table.parent / "link.csv"
    link.unlink(missing_ok=True)
    link.symlink_to(outside)
    at = f"/api/projects/{project['id']}"
    version = browser.get(at).json["version"]
    wrong = [outside, link, "/etc/passwd", table.parent / ".." / tmp_path.name / "secret.csv", "/nowhere/at/all"]
    for path in wrong:
        assert browser.post("/api/projects", {"path": str(path)}).status == 403
        assert browser.get(f"/api/files?folder={path}").status == 403
    assert browser.post("/api/projects", {"url": f"sqlite:///{outside}", "query": "t"}).status == 403
    assert browser.post("/api/projects", {"url": "s3://bucket/table.csv"}).status == 403
    assert browser.post("/api/projects", {"url": "file:///etc/passwd"}).status == 403
    assert browser.post(at + "/recipe/save", {"path": str(tmp_path / "r.toml")}).status == 403
    asked = {"kind": "publish", "version": version, "directory": str(tmp_path / "out")}
    assert browser.post(at + "/jobs", asked).status == 403
    for where, value in (
        (["source", "path"], "/etc/passwd"),
        (["source", "path"], "../other.csv"),
        (["population"], {"path": "/etc/passwd"}),
        (["ledger"], str(tmp_path)),
        (["pseudonyms"], {"key": str(tmp_path / "key")}),
        (["output", "directory"], "../../out"),
        (["method"], {"name": "scheme", "release": str(tmp_path)}),
        (["columns", "age", "hierarchy"], {"kind": "categories", "file": "/etc/passwd"}),
        (["tables"], {"visits": {"path": "/etc/passwd", "columns": {}}}),
    ):
        found = browser.ask("PATCH", at + "/recipe", {"version": version, "set": [[where, value]]})
        assert found.status == 403, where
    preview = {"hierarchy": {"kind": "categories", "file": "/etc/passwd"}}
    assert browser.post(at + "/hierarchies/age/preview", preview).status == 403
    assert browser.get(at).json["version"] == version
    link.unlink()


@pytest.mark.parametrize(
    "name", ["../first_paint.py", "%2e%2e/first_paint.py", "..%2f..%2fcli/app.py", "/etc/passwd", "x.py"]
)
def test_files_of_the_page_are_all_that_is_served(browser: Browser, name: str) -> None:
    assert browser.get(f"/static/{name}").status == 404


def test_a_body_that_is_too_large_is_refused(browser: Browser, studio: Running) -> None:
    limit = studio.studio.upload_limit
    binary = {"Content-Type": "application/octet-stream"}
    assert browser.post("/api/uploads?name=a.csv", None, raw=b"x" * (limit + 1), headers=binary).status == 413
    # One that does not say how large it is.
    chunk = b"x" * (limit // 2)
    sent = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for _ in range(4)) + b"0\r\n\r\n"
    found = browser.post("/api/uploads?name=a.csv", None, raw=sent, headers={**binary, "Transfer-Encoding": "chunked"})
    assert found.status == 413
    assert not list(studio.studio.place.path.rglob("a.csv"))
    big = {"Content-Type": "application/json", "Content-Length": str(1 << 30)}
    assert browser.post("/api/links", None, raw=None, headers=big).status == 413


def test_an_upload_is_private_and_goes_with_the_studio(tmp_path: Path) -> None:
    with running(tmp_path) as one:
        browser = one.browser()
        found = browser.post("/api/uploads?name=..%2F..%2Fx.csv", None, raw=b"a,b\n1,2\n").json
        assert (found["name"], found["size"]) == ("x.csv", 8)
        (path,) = one.studio.uploads.values()
        place = one.studio.place.path
        assert path.is_relative_to(place)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == stat.S_IMODE(place.stat().st_mode) == 0o700
        assert browser.post("/api/projects", {"upload": "unknown"}).status == 404
    assert not place.exists()


def test_places_of_studios_that_were_killed_are_taken_away() -> None:
    from incrowd.studio.allowed import PrivatePlace

    first = PrivatePlace()
    root = first.path.parent
    dead = root / "incrowd-studio-999999999-left"
    dead.mkdir(mode=0o700)
    (dead / "table.csv").write_text("a\n", encoding="utf-8")
    second = PrivatePlace()
    assert second.path.is_dir()
    assert not dead.exists()
    assert first.path.is_dir()  # its process, this one, still runs
    first.close()
    second.close()


def test_the_studio_listens_on_the_loopback_alone() -> None:
    from incrowd.studio.server import bound

    with bound(0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"


def test_unknown_addresses_and_methods_are_not_found(browser: Browser) -> None:
    assert browser.get("/api/nothing").status == 404
    assert browser.ask("DELETE", "/api/state").status in (404, 405)
    assert os.sep in str(Path.cwd())


def test_bodies_are_held_to_what_is_documented(browser: Browser, project: dict[str, Any]) -> None:
    at = f"/api/projects/{project['id']}/undo"
    for body in ({}, {"version": "7"}, {"version": True}, {"version": 1, "more": 1}):
        assert browser.post(at, body).status == 400
    assert browser.post(at, None, raw=b"{", headers={"Content-Type": "application/json"}).status == 400
    assert browser.post(at, None, raw=b"[" * 100_000, headers={"Content-Type": "application/json"}).status == 400

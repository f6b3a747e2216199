"""Who is refused: other browsers, other pages, other names of this machine, other files, too much of anything."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.studio.running import Browser, Running, running

ASKED = ("/api/state", "/api/catalogue", "/api/events", "/api/projects/0123456789abcdef", "/openapi.json")


def test_second_browser_without_a_link_gets_nothing(studio: Running, browser: Browser) -> None:
    stranger = Browser(studio.port)
    for stranger.room in ("", "/page/guessed", browser.room):
        for stranger.cookie in (None, f"incrowd_studio_{studio.port}=guessed"):
            for path in ASKED:
                assert stranger.get(path).status == 401
            for path in ("/", "/project/x"):
                found = stranger.get(path)
                assert found.status == 403
                assert b"state" not in found.body
    stranger.room = ""
    assert stranger.get("/?token=guessed").status == 403
    assert stranger.get("/?token=%ff%00").status == 403


def test_the_cookie_alone_is_worth_nothing(studio: Running, browser: Browser, project: dict[str, Any]) -> None:
    """Browsers send cookies of 127.0.0.1 to programs on its other ports: one of them forges requests with it here."""
    thief = Browser(studio.port)
    thief.cookie = browser.cookie
    own = f"/api/projects/{project['id']}"
    for thief.room in ("", "/page", "/page/", "/page/guessed", "/page/" + "x" * 43):
        for path in (*ASKED, own, own + "/profile", own + "/recipe.toml", "/project/x", "/"):
            found = thief.get(path)
            assert found.status in (401, 403)
            assert browser.room.encode() not in found.body  # nor does it learn what it lacks
        assert thief.post("/api/links", {}).status in (401, 403)
        assert thief.ask("PATCH", own + "/recipe", {"version": 1, "set": []}).status in (401, 403)
    other = studio.browser()  # the key of one page does not fit the cookie of another
    thief.cookie, thief.room = browser.cookie, other.room
    assert thief.get("/api/state").status == 401
    # Who sees the address alone is refused as well.
    thief.cookie, thief.room = None, browser.room
    assert thief.get("/api/state").status == 401


def test_another_program_cannot_lock_the_page_out(studio: Running, browser: Browser) -> None:
    """It can set a cookie of the same name for all paths of 127.0.0.1, which is then sent, too."""
    own, name = browser.cookie, f"incrowd_studio_{studio.port}"
    for cookies in (f"{name}=set; {own}", f"{own}; {name}=set", f"{name}=; x; {own}"):
        assert browser.get("/api/state", headers={"Cookie": cookies}).status == 200


def test_a_link_works_once_and_its_cookie_is_strict(studio: Running) -> None:
    link = studio.access.new_link()
    first = Browser(studio.port)
    found = first.enter(link)
    assert (found.status, found.headers["location"]) == (303, f"{first.room}/")
    flags = found.headers["set-cookie"].split("; ")[1:]
    assert set(flags) == {"HttpOnly", "SameSite=Strict", f"Path={first.room}"}  # sent to no address without the key
    assert first.get("/api/state").status == 200
    assert first.room.encode() in first.get("/").body  # its links lead to itself
    assert Browser(studio.port).enter(link).status == 403


def test_of_two_who_use_a_link_at_once_one_gets_in(studio: Running) -> None:
    from concurrent.futures import ThreadPoolExecutor

    link = studio.access.new_link()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: Browser(studio.port).enter(link).status, range(8)))
    assert sorted(found) == [303, *[403] * 7]


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
    for url in (f"SQLITE:///{outside}", f"duckdb:///{outside}", f"DuckDB:///{outside}", "s3://bucket/table.csv"):
        assert browser.post("/api/projects", {"url": url, "query": "t"}).status == 403, url
    assert browser.post("/api/projects", {"url": f"sqlite://localhost{outside}", "query": "t"}).status == 400
    assert browser.post("/api/projects", {"url": "file:///etc/passwd"}).status == 403
    assert browser.post(at + "/recipe/save", {"path": str(tmp_path / "r.toml")}).status == 403
    for directory in (str(tmp_path / "out"), "postgresql://localhost/db", f"sqlite:///{tmp_path}/out.db", "../out"):
        asked = {"kind": "publish", "version": version, "directory": directory}
        assert browser.post(at + "/jobs", asked).status == 403, directory
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
        (["tables"], {"visits": {"columns": {"x": {"hierarchy": {"kind": "categories", "file": "/etc/passwd"}}}}}),
        (["population"], {"url": f"SQLite:///{outside}"}),
        (["population"], {"url": f"duckdb:///{outside}"}),
        (["method"], {"name": "m-invariance", "m": 3, "last": "../last"}),
        (["compare"], [{"method": {"name": "scheme", "release": str(tmp_path)}}]),
        (["compare"], [{"method": {"name": "scheme", "release": "$r"}, "grid": {"r": [str(tmp_path)]}}]),
        (["ledger"], "."),  # its key would be beside the folder
    ):
        found = browser.ask("PATCH", at + "/recipe", {"version": version, "set": [[where, value]]})
        assert found.status == 403, where
    preview = {"hierarchy": {"kind": "categories", "file": "/etc/passwd"}}
    assert browser.post(at + "/hierarchies/age/preview", preview).status == 403
    assert browser.get(at).json["version"] == version
    link.unlink()


@pytest.mark.parametrize(
    "name", ["%00.js", "../first_paint.py", "%2e%2e/first_paint.py", "..%2f..%2fcli/app.py", "/etc/passwd", "x.py"]
)
def test_files_of_the_page_are_all_that_is_served(browser: Browser, name: str) -> None:
    assert browser.get(f"/static/{name}").status == 404
    assert Browser(browser.port).get(f"/static/{name}").status == 404


def test_files_of_the_page_are_no_secret_but_to_other_pages(studio: Running) -> None:
    stranger = Browser(studio.port)
    assert stranger.get("/static/main.js").status == 200
    assert stranger.get("/static/main.js", headers={"Origin": "http://127.0.0.1:1"}).status == 403
    assert stranger.get("/static/main.js", headers={"Sec-Fetch-Site": "same-site"}).status == 403


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
        for _ in range(9):  # dropped again and again, and never opened
            browser.post("/api/uploads?name=x.csv", None, raw=b"a,b\n1,2\n")
        assert len(list(place.rglob("x.csv"))) == len(one.studio.uploads) == 4
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


def test_tables_in_tables_without_end_are_refused(browser: Browser, project: dict[str, Any]) -> None:
    at = f"/api/projects/{project['id']}"
    before = browser.get(at).json
    deep: Any = 1
    for _ in range(60):
        deep = {"a": deep}
    for asked in ({"set": [[["output"], deep]]}, {"set": [[["a"] * 500, 1]]}, {"remove": [["a"] * 500]}):
        assert browser.ask("PATCH", at + "/recipe", {"version": before["version"], **asked}).status == 400
    toml = "x = " + "[" * 5000 + "]" * 5000
    assert browser.post(at + "/recipe/load", {"version": before["version"], "toml": toml}).status == 422
    toml = "x = " + "[" * 60 + "]" * 60
    assert browser.post(at + "/recipe/load", {"version": before["version"], "toml": toml}).status == 400
    assert browser.get(at).json["version"] == before["version"]


def test_numbers_of_addresses_are_plain(browser: Browser, project: dict[str, Any]) -> None:
    from incrowd.studio.asking import whole_number
    from incrowd.studio.refusing import Refused

    assert whole_number("0120", "offset") == 120
    for text in ("", "-1", "1.5", "\u00b2", "\u0663", "9" * 5000):
        with pytest.raises(Refused, match="whole number"):
            whole_number(text, "offset")


def test_a_name_of_a_download_ends_no_header(browser: Browser, project: dict[str, Any]) -> None:
    from incrowd.studio.endpoints.recipes import download

    found = download(b"", 'a"\r\nSet-Cookie: x=1;\u2028.csv', "text/csv").headers["content-disposition"]
    assert found == "attachment; filename*=UTF-8''a%22%0D%0ASet-Cookie%3A%20x%3D1%3B%E2%80%A8.csv"

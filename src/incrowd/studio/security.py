"""Who may ask: the browser that was given the link, on this machine, from the studio's own page.

- A token of the link is exchanged once for two secrets: a cookie that no script can read and no other site can send,
  and a key in the page's address. Everything but the page's own files asks for both. Browsers send a cookie of
  127.0.0.1 to every program that listens there, on whatever port: this one only to addresses that have the key, which
  nobody else knows; and who gets hold of the cookie still lacks the key. An address is seen in the history of the
  browser and by whoever looks at the screen: they lack the cookie.
- Host must be the loopback's own name: a name that an attacker lets point here is refused (DNS rebinding).
- Origin, where a browser sends one, must be the studio's own, and every request that changes anything must have one.
- Every answer forbids scripts, frames and requests of any other place, and to be kept.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from incrowd.studio.events import as_json

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'none'; frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'self'; sandbox"
)
_HEADERS = {
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_SAFE = ("GET", "HEAD")
ROOM = "/page/"
"""Addresses of a page begin with this and its key."""
_PUBLIC = ("/static/", "/favicon.ico")
"""Files of the page, as everybody can read them in the package."""
_CLOSED = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>incrowd studio</title></head>
<body><h1>incrowd studio</h1><p>This page is closed. Open the link that the terminal shows.
A link works once: a page that has it can make another one for another browser.</p>
<p>If you did not use the link and it is said to be used, somebody else did: end the studio in its terminal.</p>
<script type="module" src="/static/api.js"></script></body></html>
"""


class Access:
    """Links that were not used yet, and the browsers that have used one."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.cookie = f"incrowd_studio_{port}"  # cookies of one host are seen on all its ports
        self._tokens: set[str] = set()
        self._sessions: dict[str, str] = {}

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names by which the studio may be asked for."""
        return (f"127.0.0.1:{self.port}", f"localhost:{self.port}")

    def new_link(self) -> str:
        """Return a link that works once."""
        token = secrets.token_urlsafe(32)
        self._tokens.add(token)
        return f"http://127.0.0.1:{self.port}/?token={token}"

    def exchange(self, token: str) -> tuple[str, str] | None:
        """Return the cookie's value and the key of a page for a token that was not used yet."""
        found = next((known for known in self._tokens if _same(known, token)), None)
        if found is None:
            return None
        self._tokens.discard(found)
        session, key = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._sessions[session] = key
        return session, key

    def is_open_to(self, cookies: list[str], key: str) -> bool:
        """Whether a browser has exchanged a token: it has the cookie, and the key that was given with it.

        Another program of this machine may have set a cookie of the same name: one that is right is enough.
        """
        return any(
            _same(session, given) and _same(own, key) for session, own in self._sessions.items() for given in cookies
        )


def _same(known: str, given: str) -> bool:
    return secrets.compare_digest(known.encode(), given.encode())


class Guard:
    """Stands before everything else, and lets through what may be answered."""

    def __init__(self, app: App, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Look at a request before anybody else does."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # there are no web sockets here
        headers = _headers(scope)
        host = headers.get("host", "").lower()
        if host not in self._access.hosts:
            await _refuse(send, 421, "this is not the name of the studio.", "open the link that the terminal shows")
            return
        if not self._from_here(scope["method"], headers, host):
            await _refuse(send, 403, "this was asked from another page.", "use the studio's own page")
            return
        query = _query(scope)
        if scope["path"] == "/" and "token" in query and scope["method"] == "GET":
            await self._exchange(send, query["token"])
            return
        if scope["path"].startswith(_PUBLIC):
            await self._app(scope, receive, _adding_headers(send))
            return
        key, path = _key_and_path(scope["path"])
        if not self._access.is_open_to(_cookies(headers, self._access.cookie), key):
            await _close(send, path)
            return
        inside = {**scope, "path": path, "raw_path": path.encode(), "room": f"{ROOM}{key}"}
        await self._app(inside, receive, _adding_headers(send))

    def _from_here(self, method: str, headers: dict[str, str], host: str) -> bool:
        """Whether a request comes from the studio's page, or from no page at all where it changes nothing."""
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return False
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            # A link on another page leads here without the cookie, and so to the closed page.
            return method in _SAFE and headers.get("sec-fetch-mode") == "navigate" and origin is None
        return method in _SAFE or origin is not None

    async def _exchange(self, send: Send, token: str) -> None:
        found = self._access.exchange(token)
        if found is None:
            await _close(send, "/")
            return
        session, key = found
        kept = f"{self._access.cookie}={session}; HttpOnly; SameSite=Strict; Path={ROOM}{key}"
        await _answer(send, 303, b"", "text/plain", {"location": f"{ROOM}{key}/", "set-cookie": kept})


def _adding_headers(send: Send) -> Send:
    async def adding(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message["headers"]}
            policy = {"content-security-policy": PAGE_POLICY, "x-frame-options": "DENY"}
            if b"content-security-policy" in there:
                policy = {}
            added = [
                (name.encode(), value.encode())
                for name, value in {**_HEADERS, **policy}.items()
                if name.encode() not in there
            ]
            message = {**message, "headers": [*message["headers"], *added]}
        await send(message)

    return adding


async def _close(send: Send, path: str) -> None:
    if path.startswith("/api") or path == "/openapi.json":
        await _refuse(
            send, 401, "this browser has not opened the studio's link.", "open the link that the terminal shows"
        )
    else:
        await _answer(send, 403, _CLOSED.encode(), "text/html; charset=utf-8", {})


async def _refuse(send: Send, status: int, message: str, hint: str) -> None:
    error: dict[str, Any] = {"kind": "Refused", "message": message, "hint": hint, "column": None, "values": []}
    await _answer(send, status, as_json({"error": error}).encode(), "application/json", {})


async def _answer(send: Send, status: int, body: bytes, kind: str, more: dict[str, str]) -> None:
    headers = {"content-type": kind, "content-length": str(len(body)), "content-security-policy": PAGE_POLICY}
    headers |= {**_HEADERS, **more}
    listed = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": listed})
    await send({"type": "http.response.body", "body": body})


def _headers(scope: Scope) -> dict[str, str]:
    """Return the headers; one that is there twice is made to fit nothing."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1").lower()
        joined = "; " if key == "cookie" else ", "
        found[key] = value.decode("latin-1") if key not in found else found[key] + joined + value.decode("latin-1")
    return found


def _query(scope: Scope) -> dict[str, str]:
    from urllib.parse import parse_qsl

    return dict(parse_qsl(scope.get("query_string", b"").decode("latin-1")))


def _key_and_path(path: str) -> tuple[str, str]:
    """Return the key that an address holds, and what is asked for under it."""
    if not path.startswith(ROOM):
        return "", path
    key, slash, rest = path.removeprefix(ROOM).partition("/")
    return key, slash + rest or "/"


def _cookies(headers: dict[str, str], name: str) -> list[str]:
    """Return all cookies of one name: browsers send one for each path that fits."""
    pairs = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
    return [value for key, _, value in pairs if key == name]

"""The page's key in a real browser: other programs of this machine get neither of the two secrets."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import incrowd as ic
from tests.studio.driven import Chromium
from tests.studio.running import running


def test_another_port_gets_no_cookie_and_another_tab_finds_the_page(driven: Chromium, tmp_path: Path) -> None:
    ic.datasets.census(60, seed=2).write_csv(tmp_path / "people.csv")
    heard: list[dict[str, str]] = []

    class Other(BaseHTTPRequestHandler):
        """Another program on 127.0.0.1, which writes down what browsers send to it."""

        def do_GET(self) -> None:
            heard.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(200)
            self.send_header("Set-Cookie", "planted=1; Path=/")
            self.end_headers()
            self.wfile.write(b"<!doctype html><p>another program</p>")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    other = ThreadingHTTPServer(("127.0.0.1", 0), Other)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    try:
        with running(tmp_path) as one:
            link = one.access.new_link()
            page = driven.page(link)
            page.sees("people.csv")
            page.until(lambda: bool(page.run('location.pathname.startsWith("/page/")')), "it is at its own address")
            room = str(page.run('location.pathname.split("/").slice(0, 3).join("/")'))
            page.until(lambda: one.studio.events._listeners != set(), "it listens")
            stranger = driven.page(f"http://127.0.0.1:{other.server_port}/")
            stranger.sees("another program")
            stranger.go(f"http://127.0.0.1:{other.server_port}/page/guessed/")
            stranger.sees("another program")
            assert len(heard) >= 2
            assert not any("incrowd" in told.get("cookie", "") for told in heard)
            assert not any(room in value for told in heard for value in told.values())
            # The link is used by now, and this tab has no key: it asks the one that has.
            again = driven.page(link)
            again.until(lambda: room in str(again.run("location.href")), "the other tab tells where the page is")
            again.sees("people.csv")
            page.close()
            again.close()
            # Nobody is there to be asked.
            alone = driven.page(f"http://127.0.0.1:{one.port}/")
            alone.sees("This page is closed")
            alone.close()
            stranger.close()
    finally:
        other.shutdown()
        other.server_close()

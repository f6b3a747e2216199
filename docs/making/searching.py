"""Search a built site as a reader does who opened it as files: in Chromium, without a network, by the page's own script."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

WORDS = {
    "closeness": "understand/models/t-closeness.html",
    "ledger": "ledger.html",
    "sdcMicro": "guides/from-sdcmicro.html",
}
"""What a reader may look for, and a page that must then be among the first five."""
_QUIET = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
_REFUSED = ("CORS", "Uncaught", "ERR_FAILED")


class _Results(HTMLParser):
    """Where the entries of the list of results lead to."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._inside = self._inside or given.get("id") == "search-results"
        if self._inside and tag == "li":
            self.links.append("")
        if self._inside and tag == "a" and self.links and not self.links[-1]:
            self.links[-1] = given.get("href") or ""


def browser() -> str | None:
    """Return Chromium, if there is one."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def faults(site: Path, program: str, words: Mapping[str, str] = WORDS) -> Iterator[str]:
    """Yield what is wrong with searching: pages that are not found or not there, and what the browser refuses to load."""
    for word, expected in words.items():
        page, said = _searched(site, program, word)
        results = _Results()
        results.feed(page)
        found = [unquote(urlsplit(link).path) for link in results.links]
        if expected not in found[:5]:
            yield f"searching for “{word}” does not find {expected}, but {found[:5] or 'nothing'}"
        yield from (
            f"searching for “{word}” leads to {path}, which is not there"
            for path in found
            if not (site / path).is_file()
        )
        refused = [line for line in said.splitlines() if "CONSOLE" in line and any(one in line for one in _REFUSED)]
        if refused:
            yield f"searching for “{word}”: the browser refuses {len(refused)} times: {refused[0]}"


def _searched(site: Path, program: str, word: str) -> tuple[str, str]:
    """Return the page of results once its script has run, and what the browser said meanwhile."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        done = subprocess.run(
            [
                program, *_QUIET, "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr",
                "--virtual-time-budget=20000", f"--user-data-dir={profile}", "--dump-dom",
                f"{(site / 'search.html').resolve().as_uri()}?q={quote(word)}",
            ],
            capture_output=True, timeout=120, check=True,
        )  # fmt: skip
    return done.stdout.decode(), done.stderr.decode(errors="replace")

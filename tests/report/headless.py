"""A browser without a window, to look at pages."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

_QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)


@dataclass(frozen=True)
class Browser:
    """A headless Chromium with a profile of its own, which reaches no host at all."""

    program: str
    profile: Path

    def run(self, page: Path, *options: str, dark: bool = False) -> str:
        """Open a page and return what the browser prints."""
        scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
        command = [self.program, *_QUIET, f"--user-data-dir={self.profile}", scheme, *options, page.as_uri()]
        done = subprocess.run(command, capture_output=True, timeout=120, check=True)
        return done.stdout.decode()

    def dom(self, page: Path, *options: str, dark: bool = False) -> str:
        """Return the document as the browser understood it."""
        return self.run(page, "--dump-dom", *options, dark=dark)

    def requests(self, page: Path, log: Path) -> list[str]:
        """Return what a page, not the browser on its own, asks for from any host."""
        self.dom(page, f"--log-net-log={log}")
        data = json.loads(log.read_text(encoding="utf-8"))
        start = data["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
        asked = [event.get("params", {}) for event in data["events"] if event["type"] == start]
        return [entry["url"] for entry in asked if entry.get("initiator") not in (None, "not an origin")]

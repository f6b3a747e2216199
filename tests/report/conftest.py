"""A browser that looks at pages: found, or installed where CI says that everything must run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

COMPONENTS = Path(__file__).resolve().parents[2] / "scripts" / "components"
_NAMES = ("chromium", "chromium-browser", "google-chrome")
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


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Browser:
    """Chromium; a test that asks for it skips where there is none and none can be installed."""
    program = _found(_NAMES)
    if program is None and os.environ.get("CI"):
        done = subprocess.run([COMPONENTS, "chromium"], check=False)
        program = _found(_NAMES)
        if done.returncode != 0 or program is None:
            pytest.fail(f"scripts/components chromium failed ({done.returncode})")
    if program is None:
        pytest.skip("there is no Chromium here; scripts/components chromium installs one")
    return Browser(program, tmp_path_factory.mktemp("browser"))


def _found(names: Sequence[str]) -> str | None:
    return next((path for path in map(shutil.which, names) if path is not None), None)

"""A browser without a window, to look at pages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.studio.driven import chromium

BEGINS_EMPTY = "about:blank"
"""Given to a browser as the page to begin with: its own page for new tabs loads 400 files."""


@dataclass(frozen=True)
class Browser:
    """A headless Chromium with a profile of its own, which reaches no other machine."""

    program: str
    profile: Path

    def requests(self, pages: Sequence[Path], log: Path) -> list[str]:
        """Return what pages, not the browser on its own, ask for from any host, once all of them are there."""
        with chromium(self.program, self.profile, f"--log-net-log={log}", BEGINS_EMPTY) as tabs:
            for page in pages:
                tabs.page(page.as_uri()).close()
        data = json.loads(log.read_text(encoding="utf-8"))
        start = data["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
        asked = [event.get("params", {}) for event in data["events"] if event["type"] == start]
        return [entry["url"] for entry in asked if entry.get("initiator") not in (None, "not an origin")]

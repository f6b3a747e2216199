"""What both engines must tell alike of a release."""

from __future__ import annotations

from typing import Any

import incrowd as ic


def told(release: ic.Release) -> dict[str, Any]:
    """Return the summary; what kept columns single out is not counted on clusters."""
    said = [text for text in release.summary["warnings"] if "one of a kind" not in text]
    return {**release.summary, "seconds": 0, "warnings": said}

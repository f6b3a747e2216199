"""What is seen before any script runs."""

from __future__ import annotations

import html
from typing import Any


def first_paint(state: dict[str, Any]) -> str:
    """Return HTML that tells what is open."""
    current = state["current"]
    if current is None:
        return "<p>Open a table.</p>"
    return f"<p>{html.escape(current['name'])}</p>"

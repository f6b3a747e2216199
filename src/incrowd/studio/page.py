"""The page: a shell of ours, filled with what is known, so that something is seen before any script runs."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

from incrowd.studio.events import as_json
from incrowd.studio.first_paint import first_paint

STATIC = Path(__file__).parent / "static"
_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
}
_PLAIN = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title><!--incrowd:title--></title></head>
<body><main><!--incrowd:first--></main><!--incrowd:state--></body></html>
"""


def page(state: dict[str, Any]) -> str:
    """Return the page for a state."""
    shell = STATIC / "index.html"
    text = shell.read_text(encoding="utf-8") if shell.is_file() else _PLAIN
    current = state["current"]
    title = f"{current['name']} · incrowd studio" if current else "incrowd studio"
    data = as_json(state).replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    filled = {
        "<!--incrowd:title-->": html.escape(title),
        "<!--incrowd:first-->": first_paint(state),
        "<!--incrowd:state-->": f'<script type="application/json" id="state">{data}</script>',
    }
    # Each mark is looked for in the shell alone, so that nothing that is filled in can be one.
    parts = [text]
    for mark, content in filled.items():
        parts = [piece for part in parts for piece in _split(part, mark, content)]
    return "".join(str(part) for part in parts)


class _Filled(str):
    """A text that is not looked into any more."""


def _split(part: str, mark: str, content: str) -> list[str]:
    if isinstance(part, _Filled) or mark not in part:
        return [part]
    before, _, after = part.partition(mark)
    return [before, _Filled(content), *_split(after, mark, content)]


def static_file(name: str) -> tuple[bytes, str] | None:
    """Return a file of the page and its type; None where there is none."""
    if "\0" in name:
        return None
    path = (STATIC / name).resolve()
    if not path.is_relative_to(STATIC) or path.suffix not in _TYPES or not path.is_file():
        return None
    return path.read_bytes(), _TYPES[path.suffix]

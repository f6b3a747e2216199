"""A build hook: the README as a package index shows it, where relative links would lead nowhere.

A link to a file of the repository becomes the address of that file at this version's tag; a picture, the address of its
bytes. The home is that of `[project.urls]` in pyproject.toml.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(?P<picture>!?)\[(?P<text>(?:[^\]\[]|\[[^\]]*\]\([^)]*\))*)\]\((?P<target>[^)\s]+)\)")
"""A link or a picture of Markdown; a link's text may be a picture."""
HTML = re.compile(r"(?P<before><(?P<tag>a|img|source)\b[^>]*?\b(?:href|src|srcset)=\")(?P<target>[^\"]+)(?P<after>\")")
_SOMEWHERE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//|#")
"""What a target begins with that is no path: a scheme, a host, a heading of the same page."""


class ReadmeForIndex(MetadataHookInterface):
    """Runs when the metadata is read."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        made = absolute(text, metadata["urls"]["Repository"], f"v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": made}


def absolute(text: str, home: str, tag: str) -> str:
    """Return a Markdown text in which every link within the repository has a whole address."""
    parts = re.split(r"(^```.*?^```|`[^`\n]*`)", text, flags=re.DOTALL | re.MULTILINE)  # what is code stays as it is
    parts[::2] = [_linked(part, home, tag) for part in parts[::2]]
    return "".join(parts)


def _linked(text: str, home: str, tag: str) -> str:
    def of_markdown(found: re.Match[str]) -> str:
        inner = LINK.sub(of_markdown, found["text"])
        return f"{found['picture']}[{inner}]({_address(found['target'], home, tag, raw=bool(found['picture']))})"

    def of_html(found: re.Match[str]) -> str:
        target = _address(found["target"], home, tag, raw=found["tag"] != "a")
        return f"{found['before']}{target}{found['after']}"

    return HTML.sub(of_html, LINK.sub(of_markdown, text))


def _address(target: str, home: str, tag: str, *, raw: bool) -> str:
    if _SOMEWHERE.match(target):
        return target
    return f"{home}/{'raw' if raw else 'blob'}/{tag}/{target.removeprefix('./')}"

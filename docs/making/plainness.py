"""Look for pages of a built site that are more than a screen of words and show nothing: no picture, no code, no output."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

MOST_WORDS = 220
"""About a screen of text and tables."""


class _Article(HTMLParser):
    """How many words the article of a page has, and whether it shows something."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.shows, self._inside = 0, False, False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = self._inside or tag == "article"
        if self._inside:
            picture = tag == "svg" and "picture" in (dict(attrs).get("class") or "")
            self.shows = self.shows or picture or tag in ("pre", "img")

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "article"

    def handle_data(self, data: str) -> None:
        self.words += len(data.split()) if self._inside else 0


def faults(site: Path) -> Iterator[str]:
    """Yield pages that are long and show nothing."""
    for path in sorted(site.rglob("*.html")):
        article = _Article()
        article.feed(path.read_text(encoding="utf-8"))
        if article.words > MOST_WORDS and not article.shows:
            yield f"{path.relative_to(site)} has {article.words} words, and no picture or example"

"""Look at a built site as a browser does that has no network: every link and anchor is there, and nothing is loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADED = {
    "script": "src",
    "img": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "audio": "src",
    "video": "src",
}
_POINTERS = ("canonical", "alternate", "prev", "next", "search", "index", "genindex")


class _Page(HTMLParser):
    """What a page links to, loads, and can be linked at."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in _LOADED and _LOADED[tag] in given:
            pointer = tag == "link" and given.get("rel", "") in _POINTERS
            (self.links if pointer else self.loads).append(given[_LOADED[tag]])


def faults(site: Path) -> Iterator[str]:
    """Yield what is broken: links to pages or anchors that are not there, and whatever is loaded from the network."""
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site)
        for loaded in page.loads:
            if urlsplit(loaded).scheme not in ("", "data") or loaded.startswith("//"):
                yield f"{name} loads {loaded}"
            elif urlsplit(loaded).scheme == "" and not _target(path, loaded)[0].exists():
                yield f"{name} loads {loaded}, which is not there"
        for link in page.links:
            if urlsplit(link).scheme or link.startswith("//"):
                continue
            target, anchor = _target(path, link)
            if target.is_dir():
                target = target / "index.html"
            if not target.exists():
                yield f"{name} links to {link}, which is not there"
            elif anchor and target in pages and anchor not in pages[target].anchors:
                yield f"{name} links to {link}, where there is no such place"
    for style in sorted(site.rglob("*.css")):
        text = style.read_text(encoding="utf-8")
        if "url(http" in text or "url(//" in text or "@import" in text:
            yield f"{style.relative_to(site)} loads something"


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _target(page: Path, link: str) -> tuple[Path, str]:
    parts = urlsplit(link)
    return (page.parent / unquote(parts.path)).resolve() if parts.path else page, unquote(parts.fragment)

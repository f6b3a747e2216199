"""All pages of the site: those that are written, run as a reader follows them, and those that are made of the code."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from docs.making import notebooks, parts, reference
from docs.making.running import Page, followed

DOCS = Path(__file__).parents[1]
RUN_HERE = ("start", "guides")
"""Folders of pages whose code and commands are run when the site is built, each in an empty folder of its own."""
_TITLE = re.compile(r"^# (.+)$", flags=re.MULTILINE)


def write_pages(pages: Path, place: Path) -> int:
    """Write all pages as Sphinx takes them; return how many there are."""
    written: dict[str, str] = {}
    for path in sorted(DOCS.glob("*.md")):
        written[path.name] = notebooks.with_pages(path.read_text(encoding="utf-8"))
    for folder in RUN_HERE:
        for path in sorted((DOCS / folder).glob("*.md")):
            here = place / folder / path.stem
            here.mkdir(parents=True)
            text = notebooks.with_pages(path.read_text(encoding="utf-8"))
            written[f"{folder}/{path.name}"] = followed(text, Page(f"{folder}/{path.name}", here))
    for path in notebooks.notebooks():  # what they show is in them: the tests run them
        written[f"notebooks/{path.stem}.md"] = notebooks.page_of(notebooks.read(path), path.name)
        written[f"notebooks/{path.name}"] = path.read_text(encoding="utf-8")
    (place / "understand").mkdir()
    written |= dict(parts.pages(place / "understand"))
    written |= dict(reference.pages())
    for name, text in written.items():
        path = pages / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for picture in [*DOCS.glob("*.svg"), *DOCS.glob("*.png")]:
        shutil.copy(picture, pages / picture.name)
    return sum(name.endswith(".md") for name in written)

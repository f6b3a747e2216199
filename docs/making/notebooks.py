"""Notebooks as pages: their cells are run here, in one process, and what they show is put below them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from docs.making.running import Page, followed

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def pages(place: Path) -> Iterator[tuple[str, str]]:
    """Yield each notebook as the path and text of a page."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        folder = place / path.stem
        folder.mkdir()
        text = followed(as_text(path), Page(path.name, folder))
        source = f"\n\nThis page is the notebook `docs/notebooks/{path.name}` of the repository, run when the site was built.\n"
        yield f"notebooks/{path.stem}.md", text + source


def as_text(path: Path) -> str:
    """Return a notebook as a page: texts as they are, code as blocks that are run."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    parts = []
    for cell in cells:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source.rstrip()}\n```")
    return "\n\n".join(parts) + "\n"

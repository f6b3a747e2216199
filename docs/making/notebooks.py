"""Notebooks: `python -m docs.making.notebooks`, or `make notebooks`, runs all cells and writes what they show into the files.

A notebook is its own source: a change is made in it, by Jupyter or by an editor. What it shows is in the repository, so that
it can be read where nothing runs. The tests run every cell and compare; pages of the site are made of what is written.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from docs.making.running import Page, as_output

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
_SHOWN_BEST = ("image/svg+xml", "text/html", "text/plain")
"""Kinds of what a value shows, the best for a page first."""


BY_MACHINE = "numbers-by-machine"
"""The tag of a cell whose numbers are not the same on all processors."""
_NUMBERS = re.compile(r"[-\d.,]*\d[ ─═]*")


def notebooks() -> list[Path]:
    """Return all notebooks, by name."""
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def read(path: Path) -> dict[str, Any]:
    """Return a notebook as it is written."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def executed(notebook: dict[str, Any], name: str, place: Path) -> dict[str, Any]:
    """Return a notebook with what its cells show when they are run, one after the other, in `place`."""
    page, cells, number = Page(name, place), [], 0
    with pl.Config(restore_defaults=True):
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                number += 1
                shown = list(_outputs(*page.run("".join(cell["source"])), number))
                cell = {**cell, "execution_count": number, "metadata": _tags(cell), "outputs": shown}
            cells.append(cell)
    return {**notebook, "cells": cells, "metadata": _METADATA}


_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""No version: it would change with whoever runs them."""


def _outputs(printed: str, value: object, number: int) -> Iterator[dict[str, Any]]:
    if printed:
        yield {"name": "stdout", "output_type": "stream", "text": printed.splitlines(keepends=True)}
    if value is not None:
        data = {kind: str(text).splitlines(keepends=True) for kind, text in sorted(_shown(value).items())}
        yield {"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"}


def _shown(value: Any) -> dict[str, str]:
    """Return what a notebook shows of a value, by kind, as Jupyter asks for it."""
    shown = {"text/plain": repr(value)}
    if hasattr(value, "_repr_mimebundle_"):
        bundle = value._repr_mimebundle_()
        return shown | dict(bundle[0] if isinstance(bundle, tuple) else bundle)
    return shown | ({"text/html": value._repr_html_()} if hasattr(value, "_repr_html_") else {})


def _tags(cell: dict[str, Any]) -> dict[str, Any]:
    """Return of what is said about a cell the tags alone."""
    tags = cell.get("metadata", {}).get("tags", [])
    return {"tags": tags} if tags else {}


def comparable(notebook: dict[str, Any]) -> list[Any]:
    """Return what must be the same when a notebook is run again: all but pictures, of which it counts that they are there.

    Processors round sums in different ways. Where rows are drawn from such sums, a cell has a tag, and its numbers are left out.
    """
    found = json.loads(json.dumps(notebook["cells"]))
    for cell in found:
        if BY_MACHINE in cell.get("metadata", {}).get("tags", ()):
            cell["outputs"] = _without_numbers(cell["outputs"])
        for output in cell.get("outputs", ()):
            for kind in output.get("data", ()):
                if kind.startswith("image/"):
                    output["data"][kind] = bool(output["data"][kind])
    return list(found)


def _without_numbers(shown: Any) -> Any:
    if isinstance(shown, str):
        return _NUMBERS.sub("#", shown)
    if isinstance(shown, list):
        return [_without_numbers(one) for one in shown]
    return {key: _without_numbers(one) for key, one in shown.items()} if isinstance(shown, dict) else shown


def written(notebook: dict[str, Any]) -> str:
    """Return a notebook as Jupyter writes it."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def with_pages(text: str) -> str:
    """Return the text of a page whose links to notebooks lead to their pages."""
    return text.replace(".ipynb)", ".md)")


def page_of(notebook: dict[str, Any], name: str) -> str:
    """Return a notebook as a page of the site, with what is written in it."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        parts.append(with_pages(source) if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        parts += [_on_page(output) for output in cell.get("outputs", ())]
    title, _, first = parts[0].partition("\n")
    note = f"You can run this page and change it: it is the notebook {{download}}`{name}`."
    return "\n\n".join([title, note, first.strip(), *parts[1:]]) + "\n"


def _on_page(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return as_output("".join(output["text"]))
    kind = next(kind for kind in _SHOWN_BEST if kind in output["data"])
    text = "".join(output["data"][kind])
    if kind == "text/plain":
        return as_output(text)
    return f'````{{raw}} html\n<div class="shown">\n{text}\n</div>\n````'


def main(names: list[str]) -> int:
    """Run the notebooks that are named, or all, and write what they show."""
    for path in notebooks():
        if not names or path.stem in names:
            with tempfile.TemporaryDirectory(prefix="incrowd-notebook-") as place:
                text = written(executed(read(path), path.stem, Path(place)))
            path.write_text(text, encoding="utf-8", newline="\n")
            print(f"{path.name}: {len(text.encode()):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

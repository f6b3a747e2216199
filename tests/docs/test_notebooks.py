"""Every notebook runs, shows what is written in it, and is a page of the site."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from docs.making import notebooks
from docs.making.running import PageError

FILES = notebooks.notebooks()
MOST_BYTES = 150_000
INDEX = (Path(__file__).parents[2] / "docs" / "index.md").read_text(encoding="utf-8")


def made(*cells: str) -> dict[str, Any]:
    """Return a notebook of code alone."""
    code = [{"cell_type": "code", "id": str(place), "source": [text]} for place, text in enumerate(cells)]
    return {"cells": code, "nbformat": 4, "nbformat_minor": 5}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_shows_when_it_is_run(path: Path, tmp_path: Path) -> None:
    kept = notebooks.read(path)
    again = notebooks.executed(kept, path.stem, tmp_path)
    for before, now in zip(notebooks.comparable(kept), notebooks.comparable(again), strict=True):
        assert before == now, f"{path.name} shows something else now: make notebooks, and look at what has changed"
    assert path.read_text(encoding="utf-8") == notebooks.written({**again, "cells": kept["cells"]})


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_notebook_is_small_and_says_what_it_shows(path: Path) -> None:
    notebook = notebooks.read(path)
    assert path.stat().st_size < MOST_BYTES
    assert notebook["cells"][0]["source"][0].startswith("# ")
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    shown = [
        kind for cell in notebook["cells"] for output in cell.get("outputs", ()) for kind in output.get("data", ())
    ]
    assert "image/svg+xml" in shown, "a chart"
    assert "text/html" in shown, "a table"


def test_every_notebook_is_in_the_index() -> None:
    assert len(FILES) >= 5
    assert [path.stem for path in FILES if f"\nnotebooks/{path.stem}\n" not in INDEX] == []


def test_what_differs_is_noticed(tmp_path: Path) -> None:
    kept = notebooks.executed(made("n = 6", "print(n)\nn * 7"), "one", tmp_path)
    assert [output["output_type"] for output in kept["cells"][1]["outputs"]] == ["stream", "execute_result"]
    assert kept["cells"][1]["outputs"][1]["data"] == {"text/plain": ["42"]}
    changed = json.loads(json.dumps(kept).replace("42", "43"))
    assert notebooks.comparable(kept) != notebooks.comparable(changed)
    with pytest.raises(PageError, match="one: ZeroDivisionError"):
        notebooks.executed(made("1 / 0"), "one", tmp_path)


def test_numbers_that_processors_round_in_different_ways_are_left_out_where_a_cell_says_so(tmp_path: Path) -> None:
    notebook = made("print('n', 42)")
    notebook["cells"][0]["metadata"] = {"tags": [notebooks.BY_MACHINE]}
    kept = notebooks.executed(notebook, "one", tmp_path)
    other, more = (json.loads(json.dumps(kept).replace("n 42", text)) for text in ("n 43", "m 42"))
    assert notebooks.comparable(kept) == notebooks.comparable(other)
    assert notebooks.comparable(kept) != notebooks.comparable(more)


def test_of_pictures_it_counts_that_they_are_there(tmp_path: Path) -> None:
    code = "class P:\n    def _repr_mimebundle_(self):\n        return {'image/svg+xml': '<svg/>'}\n"
    code += "    def __repr__(self):\n        return 'P'\nP()"
    kept = notebooks.executed(made(code), "one", tmp_path)
    other, gone = json.loads(json.dumps(kept)), json.loads(json.dumps(kept))
    other["cells"][0]["outputs"][0]["data"]["image/svg+xml"] = ["<svg></svg>"]
    gone["cells"][0]["outputs"][0]["data"] = {}
    assert notebooks.comparable(kept) == notebooks.comparable(other)
    assert notebooks.comparable(kept) != notebooks.comparable(gone)


def test_a_page_holds_text_code_and_what_is_shown(tmp_path: Path) -> None:
    title = {"cell_type": "markdown", "id": "title", "source": ["# One\n", "\n", "See [two](two.ipynb)."]}
    notebook = notebooks.executed(made("print(6 * 7)"), "one", tmp_path)
    page = notebooks.page_of({**notebook, "cells": [title, *notebook["cells"]]}, "one.ipynb")
    assert page.startswith("# One\n\nYou can run this page")
    assert "{download}`one.ipynb`" in page
    assert "\n\nSee [two](two.md).\n\n" in page
    assert "```python\nprint(6 * 7)\n```" in page
    assert "\n42\n```" in page

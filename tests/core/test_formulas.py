"""Cells that a spreadsheet would run are found, made plain text, and given back as they were."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.core.formulas import FormulaCells, neutralized, restored

FORMULAS = [
    "=1+1",
    "=cmd|' /C calc'!A0",
    "+1+cmd",
    "-2+3+x",
    "@SUM(A1)",
    "\tq",
    "\rq",
    "- none",
    "-x",
    "+A1",
    "=",
    "--1",
]
HARMLESS = [
    "-5", "+5", "-5.25", "-1e-5", "-1,000", "-10–0", "-10 - -5", "-5%", "-PT5S", "-P1DT2S", "-inf", "-", "+",
    "[-5, 3)", "<-3", ">=-5", "{-5, x}", "*", "a=1", "'quoted", "", "1-2", "{=a, b}", '"=x"',
]  # fmt: skip


@pytest.mark.parametrize("cell", FORMULAS)
def test_a_formula_is_found_and_made_plain(cell: str) -> None:
    frame = pl.DataFrame({"x": ["a", cell, None]})
    assert found(frame) == {"x": 1}
    assert neutralized(frame)["x"].to_list() == ["a", "'" + cell, None]


@pytest.mark.parametrize("cell", HARMLESS)
def test_numbers_and_labels_are_no_formulas(cell: str) -> None:
    frame = pl.DataFrame({"x": ["a", cell, None]})
    assert found(frame) == {}
    assert neutralized(frame).equals(frame)


def test_only_text_is_looked_at_and_names_count() -> None:
    frame = pl.DataFrame({"=a": [-5, 3], "b": [-0.5, 2.0]})
    assert found(frame) == {"=a": 1}
    assert neutralized(frame).columns == ["'=a", "b"]


def test_the_warning_counts_and_quotes_no_cell() -> None:
    cells = FormulaCells()
    batches = [pl.DataFrame({"x": ["=secret", "b"], "y": ["@", "+secret"]})] * 2
    assert [batch.height for batch in cells.counting(iter(batches))] == [2, 2]
    assert cells.warning is not None
    assert "x (2), y (4)" in cells.warning
    assert "secret" not in cells.warning
    assert FormulaCells().warning is None


@settings(deadline=None, derandomize=True, database=None, max_examples=22)
@given(st.lists(st.none() | st.text(alphabet="'=+-@\t\r\n5a ", max_size=5), min_size=1))
def test_what_was_neutralized_comes_back(cells: list[str | None]) -> None:
    frame = pl.DataFrame({"'=x": cells, "=x": cells}, schema={"'=x": pl.String, "=x": pl.String})
    safe = neutralized(frame)
    assert restored(safe).equals(frame)
    assert restored(safe.lazy()).collect().equals(frame)


def found(frame: pl.DataFrame) -> dict[str, int]:
    cells = FormulaCells()
    list(cells.counting(iter([frame])))
    return dict(cells.found)

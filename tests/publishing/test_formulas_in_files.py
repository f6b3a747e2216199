"""Releases tell of cells that a spreadsheet would run, and make them plain text on request."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import FormulaWarning, RecipeError

FRAME = pl.DataFrame(
    {
        "age": [-5, 3, 4, -6] * 5,
        "city": ["=cmd|' /C calc'!A0", "Bern", "+x", "Rome"] * 5,
        "s": ["@a", "b", "'=c", "d"] * 5,
        "@k": ["-1+2+x", None, "-5", "k"] * 5,
    }
)


def release(**given: object) -> ic.Release:
    table = ic.read(FRAME, quasi=["age"], sensitive=["s"], keep=["city", "@k"])
    return ic.publish(table, ic.KAnonymity(1), **given)  # type: ignore[arg-type]


def test_a_release_says_where_formulas_are(tmp_path: Path) -> None:
    with pytest.warns(FormulaWarning) as told:
        release().save(tmp_path / "out", format="csv")
    assert len(told) == 1
    message = str(told[0].message)
    assert "@k (6), city (10), s (10)" in message
    assert "cmd" not in message
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["warnings"][-1] == message
    assert pl.read_csv(tmp_path / "out" / "data.csv")["city"].str.starts_with("=").any()


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_files_that_no_spreadsheet_opens_are_written_as_they_are(format: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release().save(tmp_path / "out", format=format, spreadsheet_safe=True)
    assert "spreadsheet_safe" not in (tmp_path / "out" / "recipe.toml").read_text(encoding="utf-8")
    assert ic.open_release(tmp_path / "out").to_polars().sort(pl.all()).equals(release().to_polars().sort(pl.all()))


def test_a_safe_file_runs_nothing_and_reads_back(tmp_path: Path) -> None:
    made = release()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made.save(tmp_path / "out", format="csv", spreadsheet_safe=True)
    written = pl.read_csv(tmp_path / "out" / "data.csv", infer_schema=False)
    assert written.columns == ["age", "s", "city", "'@k"]
    for column in written.get_columns():
        assert not column.drop_nulls().str.contains(r"^(?:[=@]|[+-][^0-9])").any()
    again = ic.open_release(tmp_path / "out")
    assert again.to_polars().equals(made.to_polars().cast(pl.String))
    assert ic.Recipe.load(tmp_path / "out" / "recipe.toml").output == {"format": "csv", "spreadsheet_safe": True}


def test_both_tables_of_a_release_are_safe(tmp_path: Path) -> None:
    table = ic.read(FRAME, quasi=["age"], sensitive=["s"], others="drop")
    made = ic.publish(table, ic.LDiversity(2), method=ic.Anatomy())
    with pytest.warns(FormulaWarning, match="s "):
        made.save(tmp_path / "told", format="csv")
    made.save(tmp_path / "safe", format="csv", spreadsheet_safe=True)
    assert "'@a" in (tmp_path / "safe" / "sensitive.csv").read_text(encoding="utf-8")
    assert {found.achieved for found in ic.open_release(tmp_path / "safe").guarantees} == {
        found.achieved for found in made.guarantees
    }


def test_negative_numbers_and_ranges_are_no_formulas(tmp_path: Path) -> None:
    frame = pl.DataFrame({"t": [-10, -5, 0, 5, -20, 7] * 5, "s": ["a", "b", "c"] * 10})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in (1, 6):
            made = ic.publish(ic.read(frame, quasi=["t"], sensitive=["s"]), ic.KAnonymity(k))
            made.save(tmp_path / f"{k}", format="csv")


def test_a_recipe_says_yes_or_no() -> None:
    made = {
        "incrowd": 1,
        "source": {"path": "x"},
        "columns": {"a": "quasi"},
        "models": [{"name": "k-anonymity", "k": 2}],
    }
    assert ic.Recipe.from_dict({**made, "output": {"spreadsheet_safe": True}}).output["spreadsheet_safe"] is True
    with pytest.raises(RecipeError, match="true or false"):
        ic.Recipe.from_dict({**made, "output": {"spreadsheet_safe": "yes"}})

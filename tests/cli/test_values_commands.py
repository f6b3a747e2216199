"""What the command line says and asks about values: spellings, and cells that spreadsheets run."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tests.cli.command import incrowd

RECIPE = """
incrowd = 1
[source]
path = "t.csv"
[[models]]
name = "k-anonymity"
k = 2
[columns]
age = "quasi"
city = "keep"
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    rows = "".join(f'{age},"=cmd|{age}"\n{age},Bern\n' for age in range(20, 30))
    (tmp_path / "t.csv").write_text("age,city\n" + rows, encoding="utf-8")
    (tmp_path / "r.toml").write_text(RECIPE, encoding="utf-8")
    return tmp_path / "r.toml"


def test_publish_tells_of_formulas(recipe: Path, tmp_path: Path) -> None:
    done = incrowd("publish", recipe, "-o", tmp_path / "out")
    assert done.code == 0
    told = " ".join(done.out.split())
    assert "would run as formulas: city (10)" in told
    assert "cmd" not in done.out + done.err
    as_json = json.loads(incrowd("publish", recipe, "-o", tmp_path / "json", "--json").out)
    assert "city (10)" in as_json["warnings"][-1]


def test_publish_makes_formulas_plain_text(recipe: Path, tmp_path: Path) -> None:
    done = incrowd("publish", recipe, "-o", tmp_path / "out", "--spreadsheet-safe")
    assert done.code == 0
    assert "would run" not in done.out
    assert "'=cmd" in (tmp_path / "out" / "data.csv").read_text(encoding="utf-8")
    again = tmp_path / "again"
    assert incrowd("publish", tmp_path / "out" / "recipe.toml", "-o", again, "-q").code == 0
    assert "'=cmd" in (again / "data.csv").read_text(encoding="utf-8")


def test_spellings_count_as_one_unless_told_otherwise(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("q,s\na,HIV\na,HIV \na,\u00a0HIV\n", encoding="utf-8")
    asked = ("check", tmp_path / "t.csv", "-q", "q", "-s", "s", "--json")
    assert json.loads(incrowd(*asked).out)["sensitive"]["s"]["distinct_l"] == 1
    assert json.loads(incrowd(*asked, "--exact-text").out)["sensitive"]["s"]["distinct_l"] == 3


def test_profile_writes_down_that_texts_are_exact(recipe: Path, tmp_path: Path) -> None:
    made = tmp_path / "made.toml"
    assert incrowd("profile", tmp_path / "t.csv", "-o", made, "--exact-text").code == 0
    assert tomllib.loads(made.read_text(encoding="utf-8"))["source"]["exact_text"] is True

"""`incrowd profile`, as a user meets it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

import incrowd as ic
from incrowd.cli.profile import _stem, profile
from incrowd.errors import OutputError, SourceError

app = typer.Typer()
app.command()(profile)


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, list(arguments))


@pytest.fixture
def patients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table in the current directory."""
    monkeypatch.chdir(tmp_path)
    ic.datasets.messy_patients(300).write_csv("patients.csv")
    return Path("patients.csv")


def test_it_shows_the_columns_and_writes_a_recipe_that_runs(patients: Path) -> None:
    result = run(str(patients))
    assert result.exit_code == 0
    assert "300 rows, 13 columns" in result.stdout
    line = next(line for line in result.stdout.splitlines() if line.split()[:1] == ["zip"])
    assert "quasi" in line
    assert "masked from the right" in line
    assert "Columns that single people out" in result.stdout
    assert "On the 6 proposed quasi-identifiers together: 300 rows unique (100 %), k = 1." in result.stdout
    assert "incrowd publish patients.recipe.toml" in result.stdout
    assert ic.Recipe.load("patients.recipe.toml").run().rows == 300


def test_json_is_all_there_is_on_the_output_and_nothing_is_written(patients: Path) -> None:
    result = run(str(patients), "--json")
    data = json.loads(result.stdout)
    assert data["rows"] == 300
    assert data["columns"][0] == {
        "name": "patient_id",
        "role": "identifier",
        "reason": "a number or code for one person (by name)",
        "unsure": False,
        "concept": "person id",
        "distinct": 300,
        "distinct_exact": True,
        "missing": 0,
        "largest_share": 1 / 300,
        "separation": 1.0,
        "hierarchy": None,
    }
    assert not list(Path().glob("*.toml"))


def test_json_and_a_recipe_where_both_are_asked_for(patients: Path) -> None:
    result = run(str(patients), "--json", "--output", "mine.toml")
    assert json.loads(result.stdout)["rows"] == 300
    assert tomllib.loads(Path("mine.toml").read_text(encoding="utf-8"))["output"]["directory"] == "mine-release"


def test_a_recipe_is_replaced_only_by_force(patients: Path) -> None:
    Path("patients.recipe.toml").write_text("edited by hand")
    refused = run(str(patients))
    assert isinstance(refused.exception, OutputError)
    assert "--force" in str(refused.exception)
    assert Path("patients.recipe.toml").read_text() == "edited by hand"
    assert run(str(patients), "--force").exit_code == 0
    assert "incrowd = 1" in Path("patients.recipe.toml").read_text(encoding="utf-8")


def test_a_place_where_nothing_can_be_written_is_an_error(patients: Path) -> None:
    assert isinstance(run(str(patients), "-o", "nowhere/mine.toml").exception, OutputError)
    assert isinstance(run(str(patients), "-o", ".").exception, OutputError)


def test_options_of_the_source_reach_it_and_the_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{20 + i % 40}|Zoë\n" for i in range(50))
    Path("t.csv").write_text("age|name\n?|n/a\n" + rows, encoding="latin-1")
    options = ["--separator", "|", "--encoding", "latin-1", "--missing", "?", "--missing", "n/a"]
    result = run("t.csv", "--json", "-o", "t.toml", *options)
    age, name = json.loads(result.stdout)["columns"]
    assert (age["missing"], name["missing"]) == (1, 1)
    assert age["hierarchy"]["kind"] == "intervals"
    source = tomllib.loads(Path("t.toml").read_text(encoding="utf-8"))["source"]
    assert (source["separator"], source["missing"]) == ("|", ["?", "n/a"])
    assert ic.Recipe.load("t.toml").run().rows == 51


def test_a_file_that_is_not_there_is_an_error_without_a_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert isinstance(run("nobody.csv").exception, SourceError)
    assert not list(tmp_path.iterdir())


def test_names_of_columns_are_no_markup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("[bold]x[/bold],age\n" + "".join(f"{i % 3},{i}\n" for i in range(30)))
    result = run("t.csv")
    assert result.exit_code == 0
    assert "[bold]x[/bold]" in result.stdout


@pytest.mark.parametrize(
    ("file", "stem"),
    [
        ("people.csv", "people"),
        ("data/people.2024.csv.gz", "people.2024"),
        ("sqlite:////srv/clinic.db", "clinic"),
        ("postgresql://anna@db.example:5432/clinic?sslmode=require", "clinic"),
        ("visits/", "visits"),
        ("visits/*.parquet", "table"),
    ],
)
def test_the_recipe_is_named_after_the_table(file: str, stem: str) -> None:
    assert _stem(file) == stem

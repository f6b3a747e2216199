"""`incrowd hierarchy`, as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from incrowd.cli.hierarchy import hierarchy
from incrowd.errors import HierarchyError, OutputError, RecipeError, SchemaError
from incrowd.hierarchies.categories import Categories

app = typer.Typer()
app.command()(hierarchy)

PLACES = "Rome;Italy;Europe;*\nMilan;Italy;Europe;*\nParis;France;Europe;*\nTokyo;Japan;Asia;*\n"
RECIPE = """
incrowd = 1
[source]
path = "people.csv"
missing = ["?"]
[[models]]
name = "k-anonymity"
k = 2
[columns]
name = "identifier"
sex = "quasi"
disease = "sensitive"
[columns.age]
role = "quasi"
hierarchy = { kind = "intervals", widths = [5, 10] }
[columns.zip]
role = "quasi"
hierarchy = { kind = "masking", steps = [1, 2] }
[columns.city]
role = "quasi"
hierarchy = { kind = "categories", file = "places.csv" }
"""
PEOPLE = """name,sex,disease,age,zip,city
Ann,F,flu,23,00120,Rome
Bob,M,cold,25,00121,Paris
Cem,M,flu,31,00900,Tokyo
Dee,F,flu,?,00121,?
"""


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, list(arguments))


def result_of(*arguments: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(run(*arguments, "--json").stdout)
    return data


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hierarchy, a recipe and a table in the current directory."""
    monkeypatch.chdir(tmp_path)
    Path("places.csv").write_text(PLACES)
    Path("recipe.toml").write_text(RECIPE)
    Path("people.csv").write_text(PEOPLE)
    return tmp_path


def test_a_file_is_shown_level_by_level() -> None:
    result = run("places.csv")
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["0", "4", "Rome,", "Milan,", "Paris,", "Tokyo"] in lines
    assert ["2", "2", "Europe,", "Asia"] in lines
    assert ["3", "1", "*"] in lines


def test_one_level_lists_its_nodes_and_how_many_values_each_holds() -> None:
    assert result_of("places.csv", "--level", "1")["nodes"] == [
        {"name": "Italy", "values": 2},
        {"name": "France", "values": 1},
        {"name": "Japan", "values": 1},
    ]
    assert result_of("places.csv", "--level", "3")["nodes"] == [{"name": "*", "values": 4}]
    assert ["Italy", "2"] in [line.split() for line in run("places.csv", "--level", "1").stdout.splitlines()]


@pytest.mark.parametrize("level", ["4", "-1"])
def test_a_level_that_is_not_there_is_an_error(level: str) -> None:
    error = run("places.csv", "--level", level).exception
    assert isinstance(error, HierarchyError)
    assert "0, the values, to 3" in str(error)


def test_a_table_that_is_covered_passes() -> None:
    Path("cities.csv").write_text("city\nRome\nTokyo\nRome\n\n")
    result = run("places.csv", "--check", "cities.csv", "--column", "city")
    assert result.exit_code == 0
    assert "all 2 distinct values are in the hierarchy" in result.stdout


def test_values_that_are_not_covered_fail_the_check_and_only_a_terminal_names_five(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("cities.csv").write_text("city\nRome\n" + "".join(f"Atlantis {i}\n" for i in range(7)))
    result = run("places.csv", "--check", "cities.csv", "--column", "city")
    assert result.exit_code == 1
    assert "7 of 8 distinct values not in the hierarchy" in result.stdout
    assert "Atlantis" not in result.stdout
    data = result_of("places.csv", "--check", "cities.csv", "--column", "city")
    assert data["check"] == {
        "file": "cities.csv",
        "values": 8,
        "uncovered": 7,
    }
    monkeypatch.setattr("incrowd.cli.hierarchy.on_terminal", lambda: True)
    shown = run("places.csv", "--check", "cities.csv", "--column", "city").stdout
    assert "'Atlantis 4', …" in shown
    assert "Atlantis 5" not in shown


def test_numbers_of_a_recipe_come_from_its_source() -> None:
    data = result_of("recipe.toml", "--column", "age")
    assert (data["kind"], data["made_from_data"]) == ("intervals", False)
    assert data["levels"] == [
        {"level": 0, "nodes": 3, "examples": []},  # what people's ages are is not shown unless it is asked for
        {"level": 1, "nodes": 3, "examples": ["[20, 25)", "[25, 30)", "[30, 35)"]},
        {"level": 2, "nodes": 2, "examples": ["[20, 30)", "[30, 40)"]},
        {"level": 3, "nodes": 1, "examples": ["*"]},
    ]


def test_a_column_without_a_hierarchy_shows_the_one_it_will_get() -> None:
    data = result_of("recipe.toml", "--column", "sex")
    assert (data["kind"], data["made_from_data"]) == ("automatic", True)
    assert result_of("recipe.toml", "--column", "disease")["kind"] == "exact"
    assert "made from the data" in run("recipe.toml", "--column", "sex").stdout


def test_categories_of_a_recipe_need_no_table() -> None:
    Path("people.csv").unlink()
    assert [level["nodes"] for level in result_of("recipe.toml", "--column", "city")["levels"]] == [4, 3, 2, 1]


def test_another_table_can_be_checked_against_a_recipe() -> None:
    Path("more.csv").write_text("age,city\n44,Rome\nold,Oslo\n?,?\n")
    age = run("recipe.toml", "--column", "age", "--check", "more.csv")
    assert age.exit_code == 1
    assert "1 of 2 distinct values not in the hierarchy." in age.stdout
    city = result_of("recipe.toml", "--column", "city", "--check", "more.csv")
    assert city["check"]["uncovered"] == 1  # the recipe's word for missing is no value


@pytest.mark.parametrize(("column", "first"), [("zip", "00120;0012*;001**;*"), ("age", "23;[20, 25);[20, 30);*")])
def test_all_levels_are_written_as_a_file_that_can_be_read(column: str, first: str) -> None:
    assert run("recipe.toml", "--column", column, "--write", "out.csv").exit_code == 0
    assert Path("out.csv").read_text().splitlines()[0] == first
    again = result_of("out.csv")
    original = result_of("recipe.toml", "--column", column)
    assert [level["nodes"] for level in again["levels"]] == [level["nodes"] for level in original["levels"]]
    assert Categories.read_csv("out.csv").rows[0] == tuple(first.split(";")[:-1])


def test_a_file_is_written_only_where_there_is_none_and_all_is_covered() -> None:
    refused = run("places.csv", "--write", "people.csv")
    assert isinstance(refused.exception, OutputError)
    assert Path("people.csv").read_text() == PEOPLE
    assert run("places.csv", "--write", "people.csv", "--force").exit_code == 0
    assert Path("people.csv").read_text() == PLACES
    Path("cities.csv").write_text("city\nOslo\n")
    failed = run("places.csv", "--check", "cities.csv", "--column", "city", "--write", "out.csv")
    assert failed.exit_code == 1
    assert not Path("out.csv").exists()
    assert isinstance(run("places.csv", "--write", "nowhere/out.csv").exception, OutputError)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        (["recipe.toml"], RecipeError, "--column"),
        (["recipe.toml", "--column", "agge"], RecipeError, "did you mean 'age'"),
        (["recipe.toml", "--column", "name"], RecipeError, "identifier"),
        (["places.csv", "--check", "people.csv"], SchemaError, "--column"),
        (["places.csv", "--check", "people.csv", "--column", "citi"], SchemaError, "did you mean 'city'"),
        (["nobody.csv"], HierarchyError, "nobody.csv"),
    ],
)
def test_mistakes_are_told(arguments: list[str], error: type[Exception], says: str) -> None:
    found = run(*arguments).exception
    assert isinstance(found, error)
    assert says in str(found)

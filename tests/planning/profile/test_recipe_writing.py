"""The recipe that a profile writes: it parses whatever columns are called, and it runs."""

from __future__ import annotations

import os
import re
import sqlite3
import tomllib
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.errors import Unsatisfiable
from incrowd.planning.profile import profile
from incrowd.planning.profile.writing import recipe_text


def written(source: object, folder: Path, **keywords: object) -> Path:
    recipe = folder / "table.recipe.toml"
    recipe.write_text(recipe_text(profile(source, **keywords), recipe_path=recipe), encoding="utf-8")  # type: ignore[arg-type]
    return recipe


def comments(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("#")]


def test_the_recipe_of_a_hospital_reads_like_one(tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    ic.datasets.messy_patients(1_000).write_csv(path)
    text = written(path, tmp_path).read_text(encoding="utf-8")
    data = tomllib.loads(text)
    assert data["incrowd"] == 1
    assert data["source"] == {"path": "patients.csv"}
    assert data["models"] == [
        {"name": "k-anonymity", "k": 5},
        {"name": "distinct-l-diversity", "l": 2, "column": "diagnosis"},
    ]
    assert data["output"] == {"directory": "table-release"}
    assert data["columns"]["zip"]["hierarchy"] == {"kind": "masking", "steps": [1, 2, 3, 4]}
    assert data["columns"]["sex"]["hierarchy"] == {"kind": "categories", "taken_from": "data", "tree": ["F", "M"]}
    assert "# 0 distinct values, 100 % missing. It holds no value at all." in text


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_the_recipe_of_a_hospital_runs(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"patients{suffix}"
    patients = ic.datasets.messy_patients(400)
    if suffix == ".csv":
        patients.write_csv(path)
    else:
        patients.write_parquet(path)
    release = ic.Recipe.load(written(path, tmp_path)).run()
    assert (release.rows_in, release.to_polars().height) == (400, 400)
    assert [guarantee.achieved >= least for guarantee, least in zip(release.guarantees, (5, 2), strict=True)] == [
        True
    ] * 2


@pytest.mark.adult
@pytest.mark.parametrize("name", ["adult.csv", "adult_with_missing.csv"])
def test_the_recipe_of_adult_runs(adult: Path, tmp_path: Path, name: str) -> None:
    recipe = written(adult / name, tmp_path)
    text = recipe.read_text(encoding="utf-8")
    assert '# column = "capital-gain"' in text  # nine in ten have none: diversity is only offered
    if "missing" in name:  # the same people, some of whose values are missing
        assert ic.Recipe.load(recipe).run().withheld == 0


def test_the_recipe_of_a_census_runs(tmp_path: Path) -> None:
    path = tmp_path / "census.csv"
    ic.datasets.census(2_000).write_csv(path)
    assert ic.Recipe.load(written(path, tmp_path)).run().rows == 2_000


def test_one_row_cannot_be_published(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("name,age,zip,disease\nBob,30,00120,flu\n")
    with pytest.raises(Unsatisfiable):
        ic.Recipe.load(written(path, tmp_path)).run()


def test_constant_and_empty_columns_do_not_stand_in_the_way(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    rows = "".join(f"{20 + i % 40},A,,flu\n" for i in range(60))
    path.write_text("age,ward,none,disease\n" + rows)
    release = ic.Recipe.load(written(path, tmp_path)).run()
    assert set(release.to_polars().columns) == {"age", "ward", "disease"}


def test_the_source_is_found_from_where_the_recipe_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("data", "recipes"):
        (tmp_path / name).mkdir()
    ic.datasets.census(300).write_csv(tmp_path / "data" / "people.csv", separator=";")
    monkeypatch.chdir(tmp_path)
    recipe = written("data/people.csv", Path("recipes"), missing=["n/a"])
    assert tomllib.loads(recipe.read_text())["source"] == {
        "path": "../data/people.csv",
        "separator": ";",
        "missing": ["n/a"],
    }
    monkeypatch.chdir(os.sep)
    assert ic.Recipe.load(tmp_path / recipe).run().rows == 300


def test_a_database_is_found_from_where_the_recipe_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with sqlite3.connect("people.db") as database:
        database.execute("CREATE TABLE people (age INTEGER, sex TEXT)")
        database.executemany("INSERT INTO people VALUES (?, ?)", [(20 + i % 50, "FM"[i % 2]) for i in range(100)])
    database.close()
    (tmp_path / "recipes").mkdir()
    recipe = written("sqlite:///people.db", Path("recipes"), query="people")
    monkeypatch.chdir(os.sep)
    assert ic.Recipe.load(tmp_path / recipe).run().rows == 100


def test_a_frame_has_no_file_to_name(tmp_path: Path) -> None:
    recipe = written(pl.DataFrame({"age": range(30)}), tmp_path)
    assert tomllib.loads(recipe.read_text())["source"] == {}
    assert ic.Recipe.load(recipe).roles == {"age": "quasi"}


NASTY = [
    "a.b",
    'say "x"',
    "sp ace",
    "new\nline",
    "",
    "ü",
    "#",
    "a = 1",
    "[x]",
    "tab\t",
    "\x7f",
    "\u2028",
    "'",
    "\\",
    "\r",
]


@settings(max_examples=18, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=12)), min_size=1, max_size=5, unique=True),
    st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=8)), min_size=2, max_size=6),
)
def test_any_names_and_values_make_a_recipe_that_loads(tmp_path: Path, names: list[str], values: list[str]) -> None:
    table = pl.DataFrame(dict.fromkeys(names, values)).with_columns(pl.lit("flu").alias("disease\n[[models]]"))
    recipe = written(table, tmp_path)
    text = recipe.read_text(encoding="utf-8")
    assert list(ic.Recipe.load(recipe).roles) == [*names, "disease\n[[models]]"]
    # Nothing came out of a comment: without the comments it is the same recipe.
    bare = "\n".join(line for line in text.split("\n") if not line.startswith("#"))
    assert tomllib.loads(bare) == tomllib.loads(text)


def test_names_with_line_breaks_stay_in_their_comment(tmp_path: Path) -> None:
    word = "word\n[columns.evil]\nrole = 'keep'\n#"
    codes = [i % 5 for i in range(100)]
    table = pl.DataFrame({word: [f"w{code}" for code in codes], "code\u2028x": codes})
    text = written(table, tmp_path).read_text(encoding="utf-8")
    data = tomllib.loads(text)
    assert {name: column["role"] for name, column in data["columns"].items()} == {word: "quasi", "code\u2028x": "drop"}
    assert any("word\\n[columns.evil]" in line for line in comments(text))
    assert not any("\u2028" in line for line in comments(text))


def test_comments_hold_no_values(tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    patients = ic.datasets.messy_patients(300)
    patients.write_csv(path)
    said = "\n".join(comments(written(path, tmp_path).read_text(encoding="utf-8")))
    for column in patients.columns:
        values = patients[column].drop_nulls().cast(pl.String).unique().to_list()
        leaked = [value for value in values if len(value) > 2 and re.search(rf"\b{re.escape(value)}\b", said)]
        assert not leaked, column


def test_diversity_is_asked_for_only_where_it_is_possible_and_cheap(tmp_path: Path) -> None:
    ages = list(range(100))
    cases = {
        "many": ([f"d{i % 9}" for i in range(100)], True),
        "rare": (["none"] * 95 + ["flu"] * 5, False),
        "one": (["flu"] * 100, False),
    }
    for name, (values, asked) in cases.items():
        recipe = written(pl.DataFrame({"age": ages, f"disease {name}": values}), tmp_path)
        models = tomllib.loads(recipe.read_text())["models"]
        assert (len(models) == 2) is asked, name
    assert "distinct-l-diversity" in written(pl.DataFrame({"age": ages}), tmp_path).read_text()

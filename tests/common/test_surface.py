"""Messages name options as they are written where the person is: in Python, in a recipe, on the command line."""

from __future__ import annotations

import sqlite3
import tomllib
from pathlib import Path

import polars as pl
import pytest

import incrowd as ic
from incrowd.common.surface import as_role, option, written_in
from incrowd.errors import IncrowdError, OutputError, SchemaError, SourceError
from incrowd.publishing.recipe import Recipe
from tests.cli.command import incrowd

RECIPE = """
incrowd = 1
{top}
[source]
{source}
[[models]]
name = "k-anonymity"
k = 2
[method]
name = "mondrian"
[columns]
{columns}
"""


def recipe(place: Path, source: str, columns: str, top: str = "") -> Path:
    path = place / "r.toml"
    path.write_text(RECIPE.format(source=source, columns=columns, top=top), encoding="utf-8")
    return path


def refusal(path: Path) -> str:
    with pytest.raises(IncrowdError) as refused:
        Recipe.load(path).run(seed=1)
    return str(refused.value)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / "people.db") as opened:
        opened.execute("CREATE TABLE people (age INTEGER)")
        opened.execute("INSERT INTO people VALUES (30)")
    opened.close()
    return tmp_path / "people.db"


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """A table in which names repeat."""
    people = [(f"name {number}", 20 + number % 5, "FM"[number % 2]) for number in range(20)]
    rows = dict(zip(("name", "age", "sex"), map(list, zip(*people * 3, strict=True)), strict=True))
    pl.DataFrame(rows).write_csv(tmp_path / "visits.csv")
    return tmp_path / "visits.csv"


def test_a_query(database: Path) -> None:
    url = f"sqlite:///{database}"
    with pytest.raises(SourceError, match='Hint: query="SELECT …", or query= and the name of a table'):
        ic.read(url, quasi=["age"])
    done = incrowd("profile", url)
    assert '--query "SELECT …", or --query and the name of a table' in done.err
    assert "query=" not in done.err
    told = refusal(recipe(database.parent, 'url = "sqlite:///people.db"', 'age = "quasi"'))
    assert 'query = "SELECT …" in [source]' in told


def test_names_that_repeat(visits: Path) -> None:
    with pytest.raises(SchemaError) as refused:
        ic.publish(ic.read(visits, quasi=["age"], identifiers=["name"], others="drop"), ic.KAnonymity(2))
    assert 'Hint: person="name" if each value' in str(refused.value)
    assert "each_row_a_person=True if" in str(refused.value)
    path = recipe(visits.parent, 'path = "visits.csv"', 'name = "identifier"\nage = "quasi"\nsex = "drop"')
    for told in (refusal(path), incrowd("publish", path).err):
        assert 'role = "person" or "person-pseudonym" in [columns.name] if each value' in told
        assert "each_row_a_person = true if" in told


def test_what_the_hint_of_a_recipe_says_can_be_written(visits: Path) -> None:
    columns = 'name = "identifier"\nage = "quasi"\nsex = "drop"'
    path = recipe(visits.parent, 'path = "visits.csv"', columns, top="each_row_a_person = true")
    assert Recipe.load(path).run(seed=1).rows == 60


def test_check_names_its_own_options(visits: Path) -> None:
    done = incrowd("check", visits, "--quasi", "age,sex")
    assert "--person name counts people; --each-row-a-person if" in done.err
    assert incrowd("check", visits, "--quasi", "age,sex", "--person", "name").code == 0


def test_an_output_that_exists(tmp_path: Path) -> None:
    table = ic.read(pl.DataFrame({"age": [30] * 4}), quasi=["age"])
    release = ic.publish(table, ic.KAnonymity(2), seed=1)
    release.save(tmp_path / "out")
    with pytest.raises(OutputError, match="replace it with force=True"):
        release.save(tmp_path / "out")
    (tmp_path / "t.csv").write_text("age\n30\n30\n", encoding="utf-8")
    path = recipe(tmp_path, 'path = "t.csv"', 'age = "quasi"')
    assert "replace it with --force." in incrowd("publish", path, "--output", tmp_path / "out").err


def test_a_separator_that_does_not_fit(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age;sex\n30;F\n40;M\n", encoding="utf-8")
    with pytest.raises(SourceError, match='separator=";"'):
        ic.read(tmp_path / "t.csv", quasi=["age"], separator=",")
    assert '--separator ";"' in incrowd("profile", tmp_path / "t.csv", "--separator", ",").err
    told = refusal(recipe(tmp_path, 'path = "t.csv"\nseparator = ","', 'age = "quasi"'))
    assert 'separator = ";" in [source]' in told


def test_a_column_without_a_role(visits: Path) -> None:
    with pytest.raises(SchemaError, match='others="keep" or others="drop"'):
        ic.read(visits, quasi=["age"])
    assert 'others = "keep" or others = "drop"' in refusal(
        recipe(visits.parent, 'path = "visits.csv"', 'age = "quasi"')
    )


def test_all_names_are_listed(tmp_path: Path) -> None:
    names = [f"column_{number}" for number in range(30)]
    with pytest.raises(SchemaError) as refused:
        ic.read(pl.DataFrame({name: [1] for name in [*names, "age"]}), quasi=["age"])
    assert all(f"'{name}'" in str(refused.value) for name in names)
    done = incrowd("list", "qwxzy")
    assert "…" not in done.err


@pytest.mark.parametrize("column", ["age", "first name", 'a "quoted" one', "Größe", "a.b"])
def test_a_role_in_a_recipe_is_toml(column: str) -> None:
    with written_in("recipe"):
        told = as_role("person", column)
    stated, _, section = told.partition(" in ")
    assert tomllib.loads(f"{section}\n{stated}\n")["columns"] == {column: {"role": "person"}}


@pytest.mark.parametrize("value", ["a text", 'with "quotes"', True, 3, 0.5, ["a", "b"]])
def test_an_option_in_a_recipe_is_toml_and_in_python_is_python(value: object) -> None:
    with written_in("recipe"):
        assert tomllib.loads(option("some", value)) == {"some": value}
    assert eval(f"dict({option('some', value)})") == {"some": value}


def test_surfaces_end_where_they_should() -> None:
    with pytest.raises(ValueError, match="x"), written_in("recipe"):
        raise ValueError("x")
    assert option("query") == "query="
    with written_in("command line", lambda: ["--query"]):
        assert option("query") == "--query"
        with written_in("recipe"):
            assert option("query") == "query"
        assert option("query") == "--query"


def test_a_file_without_a_header(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("39,Private,5\n50,Self,6\n38,Private,7\n", encoding="utf-8")
    with pytest.raises(SourceError, match=r'header=False says so, header=\["age", "sex", "…"\] names'):
        ic.read(path, quasi=["age"])
    for command in (("profile", path), ("check", path, "--quasi", "age")):
        told = incrowd(*command).err
        assert "--header no says so, --header age,sex,… names the columns, --header yes says" in told
        assert "header=" not in told
    told = refusal(recipe(tmp_path, 'path = "rows.csv"', 'age = "quasi"'))
    assert 'header = false in [source] says so, header = ["age", "sex", "…"] in [source] names' in told


def test_days_that_may_be_months(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("age,day\n" + "".join(f"{20 + n},0{n}/0{n + 1}/2020\n" for n in range(1, 9)), encoding="utf-8")
    with pytest.raises(SourceError, match=r'state it: written=\{"day": "dd/mm/yyyy"\}'):
        ic.read(path, quasi=["age", "day"])
    told = incrowd("profile", path).err
    assert "state it: --written day=dd/mm/yyyy" in told
    assert "written=" not in told
    told = refusal(recipe(tmp_path, 'path = "visits.csv"', 'age = "quasi"\nday = "quasi"'))
    assert 'state it: day = "dd/mm/yyyy" in [source.written]' in told


def test_options_that_a_kind_of_file_does_not_have(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pl.DataFrame({"age": [30, 31]}).write_parquet(path)
    told = incrowd("profile", path, "--decimal", ",", "--header", "no").err
    assert "so --header and --decimal cannot be used" in told
    told = refusal(recipe(tmp_path, 'path = "people.parquet"\ndecimal = ","', 'age = "quasi"'))
    assert "so decimal cannot be used" in told


def test_what_is_shown(visits: Path) -> None:
    path = recipe(visits.parent, 'path = "visits.csv"', 'name = "drop"\nage = "quasi"\nsex = "drop"', top='show = "x"')
    assert "show is one of label, midpoint, bounds, mean" in refusal(path)
    path = recipe(visits.parent, 'path = "visits.csv"', 'name = "drop"\nage = "quasi"\nsex = "drop"')
    assert "--show is one of label, midpoint, bounds, mean" in incrowd("publish", path, "--show", "x").err


def test_apply_names_its_own_options(visits: Path) -> None:
    columns = 'name = "drop"\nage = "quasi"\nsex = "drop"'
    path = recipe(visits.parent, 'path = "visits.csv"', columns, top="each_row_a_person = true")
    place = visits.parent / "first"
    assert incrowd("publish", path, "--output", place).code == 0
    (visits.parent / "new.csv").write_text("20,F\n21,M\n22,F\n", encoding="utf-8")
    told = incrowd("apply", place, visits.parent / "new.csv").err
    assert "--header no says so" in told
    assert "in [source]" not in told

"""Recipes: they read like the API, come back as they were, and every mistake is told by name."""

from __future__ import annotations

import itertools
import sqlite3
import stat
import tomllib
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.families import registered
from incrowd.errors import IncrowdError, RecipeError
from incrowd.hierarchies.flat import Exact
from incrowd.publishing.recipe import Recipe

BASIC: dict[str, Any] = {
    "incrowd": 1,
    "source": {"path": "people.csv"},
    "models": [{"name": "k-anonymity", "k": 2}],
    "columns": {"age": {"role": "quasi"}, "flu": {"role": "sensitive"}},
}
PEOPLE = "age,flu,id\n31,no,a\n32,no,b\n41,yes,c\n43,no,d\n"


def written(folder: Path, **changes: Any) -> Path:
    """Write the basic recipe with some changes, and its table beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "people.csv").write_text(PEOPLE, encoding="utf-8")
    data = {**BASIC, "others": "drop", **changes}
    recipe = folder / "people.recipe.toml"
    recipe.write_text(Recipe.from_dict(data, base=folder).to_toml(), encoding="utf-8")
    return recipe


def again(recipe: Recipe) -> Recipe:
    """The recipe after a trip through TOML."""
    return Recipe.from_dict(tomllib.loads(recipe.to_toml()), base=recipe.base)


def example(cls: type) -> Any:
    """An instance with the first values that its required parameters take."""
    if cls is ic.Categories:
        return ic.Categories.from_tree({"Europe": ["Italy", "Spain"], "Asia": {"East": ["Japan"]}})
    if cls is ic.MinimumVariance:
        return ic.MinimumVariance(share=0.5)
    needed = [f.name for f in fields(cls) if f.default is MISSING and f.default_factory is MISSING]
    for values in itertools.product((3, 0.5, 2.5, "disease", {"flu": 0.5}), repeat=len(needed)):
        try:
            return cls(**dict(zip(needed, values, strict=True)))
        except (IncrowdError, TypeError):
            continue
    return ic.Intervals(widths=(5, 10)) if cls is ic.Intervals else pytest.fail(f"no example of {cls.__name__}")


@pytest.mark.parametrize("name", sorted(registered("models")))
def test_every_model_comes_back(name: str) -> None:
    model = example(registered("models")[name])
    assert again(Recipe({"path": "x.csv"}, {"age": "quasi"}, {}, (model,))).models == (model,)


@pytest.mark.parametrize("name", sorted(registered("methods")))
def test_every_method_comes_back(name: str) -> None:
    method = example(registered("methods")[name])
    recipe = Recipe({"path": "x.csv"}, {"age": "quasi"}, {}, (ic.KAnonymity(2),), method)
    assert again(recipe).method == method


@pytest.mark.parametrize("role", ["quasi", "sensitive"])
@pytest.mark.parametrize("name", sorted(registered("hierarchies")))
def test_every_hierarchy_comes_back(name: str, role: str) -> None:
    hierarchy = example(registered("hierarchies")[name])
    recipe = Recipe({"path": "x.csv"}, {"age": role}, {"age": hierarchy}, (ic.KAnonymity(2),))
    default = ic.Automatic() if role == "quasi" else Exact()
    assert again(recipe).hierarchies.get("age", default) == hierarchy


@pytest.mark.parametrize(
    "hierarchy",
    [
        ic.Intervals(widths=(0.5, 1.5), origin=-1.25, lower=-3, upper=12.5),
        ic.Intervals(cuts=((18, 30.5, 65), (18,))),
        ic.Intervals(widths=tuple(np.array([5, 10]))),
        ic.Masking(side="left", steps=(2, 4), mask="#"),
        ic.Dates(units=("month", "decade")),
        ic.Categories.from_tree(["*", "", 'a "b"', "new\nline", "a.b", "Zürich"]),
        ic.Categories.from_tree({"": {"x.y": ["1"]}, '"': {"[z]": ["2"]}}),
    ],
    ids=str,
)
def test_hierarchies_with_everything_stated_come_back(hierarchy: Any) -> None:
    recipe = Recipe({"path": "x.csv"}, {"age": "quasi"}, {"age": hierarchy}, (ic.KAnonymity(2),))
    assert again(recipe).hierarchies["age"] == hierarchy


@pytest.mark.parametrize(
    "method", [ic.Mondrian(cuts="relaxed", labels="tight"), ic.Mondrian(labels="hierarchy")], ids=str
)
def test_methods_with_everything_stated_come_back(method: Any) -> None:
    assert (
        again(Recipe({"path": "x.csv"}, {}, {}, (ic.RecursiveLDiversity(2.5, 3, column="flu"),), method)).method
        == method
    )


@settings(deadline=None, derandomize=True, database=None)
@given(st.lists(st.text(max_size=8), max_size=5, unique=True), st.none() | st.integers(0, 2**62))
def test_any_column_name_and_seed_come_back(names: list[str], seed: int | None) -> None:
    roles = dict(
        zip(names, itertools.cycle(("quasi", "sensitive", "identifier", "pseudonym", "keep", "drop")), strict=False)
    )
    recipe = Recipe(
        source={"path": "a b/ä.csv", "separator": "\t", "quote": "", "encoding": "cp1252", "missing": ["?", ""]},
        roles=roles,
        hierarchies={},
        models=(ic.KAnonymity(2),),
        others="keep",
        seed=seed,
        output={"directory": "out", "format": "arrow"},
        pseudonym_key="../key",
    )
    assert again(recipe) == recipe


NASTY = ["group", "count of rows", "", "c0", 'a "b"', "a.b", "Größe"]
ROLES = ["quasi", "sensitive", "keep", "pseudonym", "person-pseudonym"]
# What could be a pattern of names in each role, and all other names in two of them, in turns.
NAMED = [(name, role) for name in ("^a.*$", "*") for role in ROLES]
NAMED += [(name, ROLES[(place + step) % 5]) for place, name in enumerate(NASTY) for step in (0, 2)]


@pytest.mark.parametrize(("name", "role"), NAMED)
def test_nasty_column_names_go_all_the_way(tmp_path: Path, name: str, role: str) -> None:
    table = pl.DataFrame({"age": [1, 1, 2, 2], name: ["x", "y", "x", "y"]})
    table.write_parquet(tmp_path / "people.parquet")
    recipe = Recipe({"path": "people.parquet"}, {"age": "quasi", name: role}, {}, (ic.KAnonymity(2),), base=tmp_path)
    release = again(replace(recipe, each_row_a_person=role == "pseudonym")).run()
    assert sorted(release.data.columns) == sorted(["age", name])
    release.save(tmp_path / "out")
    assert Recipe.load(tmp_path / "out" / "recipe.toml").roles == {"age": "quasi", name: role}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"incrowd": 2}, "a recipe starts with `incrowd = 1`; this one says 2"),
        ({"incrowd": None}, "this one says None"),
        ({"sorce": {}}, "the recipe has no 'sorce'.  Hint: did you mean 'source'"),
        ({"source": {"pth": "x"}}, r"\[source\] has no 'pth'.  Hint: did you mean 'path'"),
        ({"source": {"path": 5}}, r"\[source\]: path is a text, not 5"),
        ({"source": "people.csv"}, r"\[source\] is a table, not str"),
        ({"output": {"dir": "x"}}, r"\[output\] has no 'dir'.  Hint: there are 'directory', 'format'"),
        (
            {"output": {"format": "orc"}},
            r"\[output\] format is one of arrow, csv, dta, parquet, sav, xlsx, xpt, not 'orc'",
        ),
        ({"pseudonyms": {"keys": "x"}}, r"\[pseudonyms\] has no 'keys'.  Hint: did you mean 'key'"),
        ({"pseudonyms": {"key": 1}}, r"\[pseudonyms\]: key is a text, not 1"),
        ({"seed": -1}, "seed is a whole number of at least 0, not -1"),
        ({"seed": True}, "seed is a whole number"),
        ({"seed": "x"}, "seed is a whole number"),
        ({"models": []}, "no model is required.  Hint: add"),
        ({"models": [{"k": 5}]}, "there is no model without a name.  Hint: there are 'alpha-k-anonymity'"),
        (
            {"models": [{"name": "k-anonimity", "k": 5}]},
            "no model called 'k-anonimity'.  Hint: did you mean 'k-anonymity'",
        ),
        ({"models": [{"name": ["k-anonymity"]}]}, "no model called"),
        ({"models": ["k-anonymity"]}, "model 'k-anonymity' needs k"),
        ({"models": [{"name": "k-anonymity", "k": 5, "L": 2}]}, "model 'k-anonymity' has no 'L'"),
        ({"models": [{"name": "k-anonymity", "k": "5"}]}, "k is a whole number of at least 1, not '5'"),
        ({"models": [{"name": "k-anonymity", "k": 0}]}, "k is a whole number of at least 1, not 0"),
        ({"method": {"name": "mondrain"}}, "no method called 'mondrain'.  Hint: did you mean 'mondrian'"),
        ({"method": {"name": "mondrian", "cuts": "soft"}}, "cuts is"),
        ({"method": 5}, r"\[method\] is a table, not int"),
        ({"columns": {"age": "quasy"}}, "column 'age': its role is one of quasi, sensitive, .* not 'quasy'"),
        ({"columns": {"age": {"hierarchy": {}}}}, "column 'age': its role is one of"),
        ({"columns": {"age": {"role": "quasi", "hirarchy": 1}}}, "column 'age' has no 'hirarchy'.  Hint: did you mean"),
        ({"columns": {"age": 5}}, r"\[columns.age\] is a table, not int"),
        ({"columns": []}, r"\[columns\] is a table, not list"),
    ],
)
def test_mistakes(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        Recipe.from_dict({**BASIC, **changes})


@pytest.mark.parametrize(
    ("hierarchy", "message"),
    [
        ({}, "there is no hierarchy without a kind"),
        ({"kind": "interval"}, "Hint: did you mean 'intervals'"),
        ({"kind": "intervals", "width": [5]}, "has no 'width'.  Hint: did you mean 'widths'"),
        ({"kind": "intervals", "widths": 5}, "widths is a list, each of which is a number, not 5"),
        ({"kind": "intervals", "widths": ["5"]}, "are numbers, not '5'"),
        ({"kind": "intervals", "widths": [5, 7]}, "7 is not a multiple of 5"),
        ({"kind": "masking", "mask": 5}, "mask is a text, not 5"),
        ({"kind": "dates", "units": ["week"]}, "unknown unit 'week'"),
        ({"kind": "categories"}, "needs either a tree or a file"),
        ({"kind": "categories", "tree": ["a"], "file": "x"}, "needs either a tree or a file"),
        ({"kind": "categories", "tree": ["a"], "files": "x"}, "has no 'files'.  Hint: did you mean 'file'"),
        ({"kind": "categories", "tree": "a"}, "made of tables and lists"),
        ({"kind": "categories", "file": 5}, "file is a text, not 5"),
        ({"kind": "categories", "file": "nowhere.csv"}, "nowhere.csv cannot be read: No such file"),
        ({"kind": "categories", "file": "x", "separator": ""}, "separator is one character|cannot be read"),
    ],
)
def test_mistakes_in_a_hierarchy_name_its_column(hierarchy: dict[str, Any], message: str) -> None:
    with pytest.raises(RecipeError, match=message) as caught:
        Recipe.from_dict({**BASIC, "columns": {"age": {"role": "quasi", "hierarchy": hierarchy}}})
    assert str(caught.value).startswith("column 'age': ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("incrowd = ", "is not TOML: Invalid value"),
        ("\0", "is not TOML"),
        ("incrowd = 1\nsorce = 3", "the recipe has no 'sorce'"),
    ],
)
def test_a_file_that_is_no_recipe_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RecipeError, match=message) as caught:
        Recipe.load(path)
    assert str(path) in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"cannot be read: No such file or directory\."):
        Recipe.load(tmp_path / "nowhere.toml")
    with pytest.raises(RecipeError, match="cannot be read: Is a directory"):
        Recipe.load(tmp_path)
    (tmp_path / "latin.toml").write_bytes("# Größe".encode("latin-1"))
    with pytest.raises(RecipeError, match="cannot be read: UnicodeDecodeError"):
        Recipe.load(tmp_path / "latin.toml")


def test_short_forms_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    text = 'incrowd = 1\nmethod = "mondrian"\nmodels = [{name = "k-anonymity", k = 2}]\n[columns]\nage = "quasi"\n'
    (tmp_path / "r.toml").write_text(text, encoding="utf-8-sig")
    recipe = Recipe.load(tmp_path / "r.toml")
    assert (recipe.roles, recipe.method, recipe.models) == ({"age": "quasi"}, ic.Mondrian(), (ic.KAnonymity(2),))


@pytest.mark.parametrize("source", [{}, {"path": "people.csv", "url": "sqlite:///x.db"}])
def test_a_source_is_a_path_or_a_url(source: dict[str, str]) -> None:
    with pytest.raises(RecipeError, match=r"\[source\] names either a path or a url"):
        Recipe.from_dict({**BASIC, "source": source}).table()


def test_paths_are_relative_to_the_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "study"
    written(folder)
    (folder / "ages.csv").write_text("31;thirties;*\n32;thirties;*\n41;forties;*\n43;forties;*\n", encoding="utf-8")
    (folder / "people.recipe.toml").write_text(
        """
        incrowd = 1
        others = "drop"
        source.path = "people.csv"
        models = [{ name = "k-anonymity", k = 2 }]
        columns.age = { role = "quasi", hierarchy = { kind = "categories", file = "ages.csv" } }
        """,
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    for name in ("study/people.recipe.toml", str(folder / "people.recipe.toml"), "study/../study/people.recipe.toml"):
        assert set(Recipe.load(name).run().data["age"]) == {"thirties", "forties"}


def sqlite_table(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    with sqlite3.connect(folder / "people.db") as database:
        database.execute("CREATE TABLE people (age INTEGER, flu TEXT)")
        database.executemany("INSERT INTO people VALUES (?, ?)", [(31, "no"), (32, "no"), (41, "yes"), (43, "no")])
    database.close()


def test_a_sqlite_url_is_relative_to_the_recipe_and_so_is_the_saved_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlite_table(tmp_path / "study")
    recipe = written(tmp_path / "study", source={"url": "sqlite:///people.db", "query": "people"})
    monkeypatch.chdir(tmp_path)
    for name in ("study/people.recipe.toml", str(recipe)):
        data = Recipe.load(name).run().save("deep/er/release", force=True)
        assert (
            Recipe.load("deep/er/release/recipe.toml").run().save("again", force=True).read_bytes() == data.read_bytes()
        )


def test_an_absolute_sqlite_url_stays(tmp_path: Path) -> None:
    sqlite_table(tmp_path)
    url = f"sqlite:///{tmp_path}/people.db"
    recipe = written(tmp_path / "study", source={"url": url, "query": "people"})
    Recipe.load(recipe).run().save(tmp_path / "out")
    assert Recipe.load(tmp_path / "out" / "recipe.toml").source["url"] == url


def test_a_recipe_can_move_to_another_directory(tmp_path: Path) -> None:
    recipe = Recipe(
        {"path": "data/people.csv"},
        {"age": "quasi"},
        {},
        (ic.KAnonymity(2),),
        output={"directory": "out"},
        pseudonym_key="key",
        base=tmp_path / "a",
    )
    moved = recipe.relative_to(tmp_path / "b" / "c")
    assert moved.source["path"] == "../../a/data/people.csv"
    assert (moved.output["directory"], moved.pseudonym_key) == ("../../a/out", "../../a/key")


def test_a_step_up_from_behind_a_symbolic_link(tmp_path: Path) -> None:
    recipe = written(tmp_path / "study")
    (tmp_path / "far" / "away").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far" / "away")
    Recipe.load(recipe).run().save(tmp_path / "link" / "out")
    assert Recipe.load(tmp_path / "far" / "away" / "out" / "recipe.toml").run().rows == 4


def test_the_seed_is_the_recipe_s_unless_another_is_given(tmp_path: Path) -> None:
    recipe = Recipe.load(written(tmp_path, seed=7))
    assert recipe.run().seed == 7
    assert recipe.run(seed=8).seed == 8
    recipe.run().save(tmp_path / "out")
    assert Recipe.load(tmp_path / "out" / "recipe.toml").seed is None  # which would undo what chance hides
    assert Recipe.load(recipe.run().save_recipe(tmp_path / "own.toml")).seed == 7


@pytest.mark.parametrize("seed", [-1, 1.5, True, "x"])
def test_a_seed_is_a_whole_number(tmp_path: Path, seed: Any) -> None:
    with pytest.raises(RecipeError, match="seed is a whole number of at least 0"):
        Recipe.load(written(tmp_path)).run(seed=seed)


def with_pseudonyms(folder: Path, key: str = "keys.txt") -> Path:
    return written(folder, columns={**BASIC["columns"], "id": {"role": "pseudonym"}}, pseudonyms={"key": key})


def test_the_pseudonym_key_is_made_beside_the_recipe_and_used_again(tmp_path: Path) -> None:
    recipe = Recipe.load(with_pseudonyms(tmp_path))
    first = recipe.run().data
    assert stat.S_IMODE((tmp_path / "keys.txt").stat().st_mode) == 0o600
    assert recipe.run().data.equals(first)
    (tmp_path / "keys.txt").unlink()
    assert not recipe.run().data.equals(first)


def test_a_saved_recipe_finds_the_key_again(tmp_path: Path) -> None:
    data = Recipe.load(with_pseudonyms(tmp_path)).run().save(tmp_path / "out")
    again = Recipe.load(tmp_path / "out" / "recipe.toml")
    assert again.pseudonym_key == "../keys.txt"
    assert again.run().save(tmp_path / "twice").read_bytes() == data.read_bytes()


def test_no_key_is_made_where_the_table_cannot_be_opened_or_has_no_pseudonyms(tmp_path: Path) -> None:
    recipe = with_pseudonyms(tmp_path)
    (tmp_path / "people.csv").unlink()
    with pytest.raises(ic.errors.SourceError):
        Recipe.load(recipe).run()
    assert not (tmp_path / "keys.txt").exists()
    Recipe.load(written(tmp_path, pseudonyms={"key": "keys.txt"})).run()
    assert not (tmp_path / "keys.txt").exists()


def test_a_release_of_a_frame_says_what_is_missing_from_its_recipe(tmp_path: Path) -> None:
    table = ic.read(pl.DataFrame({"age": [1, 1]}), quasi=["age"])
    ic.publish(table, ic.KAnonymity(2)).save(tmp_path / "out")
    with pytest.raises(RecipeError, match=r"\[source\] names either a path or a url"):
        Recipe.load(tmp_path / "out" / "recipe.toml").run()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("seed = " + "9" * 5000, "is not TOML"),
        ("source = " + "[" * 5000, "nested too deeply"),
        ("seed = 1e", "not TOML"),
    ],
    ids=["long number", "deep list", "damaged number"],
)
def test_a_recipe_that_no_reader_can_read(tmp_path: Path, line: str, told: str) -> None:
    path = tmp_path / "people.recipe.toml"
    path.write_text(f"incrowd = 1\n{line}\n", encoding="utf-8")
    with pytest.raises(RecipeError, match=told):
        Recipe.load(path)

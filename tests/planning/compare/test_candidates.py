"""What is compared: recipes and grids, expanded and named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from incrowd.errors import RecipeError
from incrowd.planning.compare import Candidate, candidates_of

HEAD = """
[source]
path = "people.csv"
[columns]
age = "quasi"
ill = "sensitive"
[output]
directory = "out"
[[models]]
name = "k-anonymity"
k = 3
"""


def recipe(folder: Path, text: str, name: str = "many.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_recipe_without_a_grid_is_a_candidate_under_its_method(tmp_path: Path) -> None:
    found, *_ = candidates_of([recipe(tmp_path, HEAD, "plain.recipe.toml")])
    assert found.name == "mondrian (the recipe)"
    assert found.base == tmp_path
    assert "output" not in found.recipe
    assert found.recipe["models"] == [{"name": "k-anonymity", "k": 3}]


def test_a_grid_is_all_combinations(tmp_path: Path) -> None:
    text = (
        HEAD
        + """
[[compare]]
method = { name = "mondrian", labels = "$labels" }
models = [{ name = "k-anonymity", k = "$k" }]
grid = { k = [2, 5], labels = ["region", "tight"] }
"""
    )
    found = candidates_of([recipe(tmp_path, text)])
    assert [candidate.name for candidate in found] == [
        "mondrian labels=region: k-anonymity k=2",
        "mondrian labels=tight: k-anonymity k=2",
        "mondrian labels=region: k-anonymity k=5",
        "mondrian labels=tight: k-anonymity k=5",
    ]
    assert found[1].recipe["method"] == {"name": "mondrian", "labels": "tight"}
    assert found[1].recipe["models"] == [{"name": "k-anonymity", "k": 2}]  # a number, not a text
    assert all("compare" not in candidate.recipe for candidate in found)


def test_what_an_entry_does_not_name_stays_the_recipes(tmp_path: Path) -> None:
    text = (
        HEAD
        + """
[[compare]]
models = [{ name = "k-anonymity", k = 7 }]
[[compare]]
name = "half of them, k=$k"
method = { name = "mondrian" }
models = [{ name = "k-anonymity", k = "$k" }]
sample = 0.5
grid = { k = [4] }
"""
    )
    first, second = candidates_of([recipe(tmp_path, text)])
    assert first.recipe["models"] == [{"name": "k-anonymity", "k": 7}]
    assert first.recipe["columns"] == {"age": "quasi", "ill": "sensitive"}
    assert second.name == "half of them, k=4"
    assert second.recipe["sample"] == 0.5


def test_an_entry_with_a_method_of_its_own_does_not_keep_the_recipes_models(tmp_path: Path) -> None:
    """A method may promise something by its construction, and would refuse models that it was not made for."""
    text = HEAD + '[[compare]]\nmethod = { name = "diffgen", epsilon = 1 }\n'
    (found,) = candidates_of([recipe(tmp_path, text)])
    assert "models" not in found.recipe
    assert found.name == "diffgen epsilon=1"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[compare", "is not TOML"),
        ("compare = 3", "is a list of ways to publish"),
        ("[[compare]]\nkey = 1", "names some of form, grid, method, models, name, sample"),
        ("[[compare]]\ngrid = { k = 5 }", "gives each name a list of values"),
        ("[[compare]]\ngrid = { k = [] }", "gives each name a list of values"),
        ("compare = []", "there is nothing to compare"),
        ('[[compare]]\nname = "a"\n[[compare]]\nname = "a"', "two candidates are called 'a'"),
    ],
)
def test_mistakes_are_explained(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=says):
        candidates_of([recipe(tmp_path, text)])


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="cannot be read"):
        candidates_of([tmp_path / "nothing.toml"])


def test_a_key_changes_with_everything_that_a_result_depends_on(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age\n1\n", encoding="utf-8")
    (tmp_path / "ages.csv").write_text("1;*\n", encoding="utf-8")
    hierarchy = {"age": {"role": "quasi", "hierarchy": {"kind": "categories", "file": "ages.csv"}}}
    base = Candidate("a", {"source": {"path": "people.csv"}, "columns": hierarchy}, tmp_path)
    first = base.key(seed=0, learn=False)
    assert first == Candidate("another name", base.recipe, tmp_path).key(seed=0, learn=False)
    keys = {
        first,
        base.key(seed=1, learn=False),
        base.key(seed=0, learn=True),
        Candidate("a", {**base.recipe, "sample": 0.5}, tmp_path).key(seed=0, learn=False),
    }
    for name in ("people.csv", "ages.csv"):
        os.utime(tmp_path / name, ns=(1, 1))
        keys.add(base.key(seed=0, learn=False))
    assert len(keys) == 6

"""A recipe as Python: the lines make the same release."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.publishing.recipe import Recipe
from incrowd.publishing.recipe_lines import python_lines

ROWS = ic.datasets.census(120, seed=2).with_columns(pid=pl.Series([f"p{place // 2}" for place in range(120)]))
COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [5, 10, 20]}},
    "sex": "quasi",
    "education": {"role": "quasi"},
    "occupation": "sensitive",
}
SIMPLE = {
    "incrowd": 1,
    "source": {"path": "rows.csv"},
    "models": [{"name": "k-anonymity", "k": 3}],
    "seed": 5,
    "others": "drop",
}
RECIPES: dict[str, dict[str, Any]] = {
    "simple": {**SIMPLE, "columns": COLUMNS},
    "labels": {**SIMPLE, "columns": COLUMNS, "method": {"name": "mondrian", "labels": "hierarchy"}, "sample": 0.75},
    "exact rate": {**SIMPLE, "columns": COLUMNS, "sample": "2/3"},
    "people": {**SIMPLE, "columns": {**COLUMNS, "pid": "person"}},
    "named twice": {**SIMPLE, "columns": {**COLUMNS, "pid": "identifier"}, "each_row_a_person": True},
    "form": {
        **SIMPLE,
        "columns": COLUMNS,
        "models": [{"name": "distinct-l-diversity", "l": 2, "column": "occupation"}],
        "method": {"name": "anatomy"},
    },
    "changed": {
        **SIMPLE,
        "columns": {
            **COLUMNS,
            "salary": {"role": "keep", "change": [{"name": "rounding", "to": 1000}, {"name": "noise", "sd": 100}]},
        },
    },
    "shown": {**SIMPLE, "columns": {**COLUMNS, "age": {"role": "quasi", "show": "mean"}}},
    "categories": {
        **SIMPLE,
        "columns": {
            **COLUMNS,
            "sex": {
                "role": "quasi",
                "hierarchy": {"kind": "categories", "tree": {'a "quoted" one': ["Female", "Male"]}},
            },
        },
        "source": {"path": "rows.csv", "missing": ["?"], "separator": ","},
    },
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lines")
    ROWS.write_csv(folder / "rows.csv")
    return folder


@pytest.mark.parametrize("name", RECIPES)
def test_the_lines_make_the_same_release(name: str, place: Path, tmp_path: Path) -> None:
    recipe = Recipe.from_dict(RECIPES[name], base=place)
    expected = recipe.run()
    expected.save(tmp_path / "expected")
    before = Path.cwd()
    os.chdir(place)
    try:
        exec(python_lines(recipe, directory=str(tmp_path / "made")), {})
    finally:
        os.chdir(before)
    for file in (tmp_path / "expected").iterdir():
        if file.name != "recipe.toml":  # which names the path as it was given
            assert (tmp_path / "made" / file.name).read_bytes() == file.read_bytes(), file.name


def test_linked_tables_and_a_split_are_read_as_such(place: Path) -> None:
    events = {"visits": {"path": "visits.csv", "columns": {"pid": "person", "what": "sensitive"}}}
    recipe = Recipe.from_dict(
        {**SIMPLE, "columns": {**COLUMNS, "pid": "person-pseudonym"}, "tables": events}, base=place
    )
    text = python_lines(recipe)
    assert 'events_1 = ic.read("visits.csv"' in text
    assert 'table = ic.read_tables(table, **{"visits": events_1})' in text
    split = Recipe.from_dict(
        {**SIMPLE, "columns": {**COLUMNS, "pid": "person-pseudonym"}, "split": "visits"}, base=place
    )
    assert 'table = ic.split_rows(table, "visits")' in python_lines(split)


def test_every_part_that_can_be_had_is_written_as_a_call(place: Path) -> None:
    """Whatever a family has as an example, the line that is written for it makes it again."""
    from incrowd.core.families import registered
    from incrowd.publishing.recipe_lines import _part

    for family in ("models", "methods", "hierarchies", "forms", "changes", "set_models", "set_methods"):
        for cls in registered(family).values():
            for made in cls.examples():
                assert eval(_part(made), {"ic": ic}) == made

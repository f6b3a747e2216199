"""The built-in table's roles and hierarchies, and a look at a few of its people before and after."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import tomli_w
from rich.table import Table
from rich.text import Text

from incrowd.datasets import CENSUS_AGE_WIDTHS, CENSUS_TREES
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.intervals import Intervals
from incrowd.publishing.recipe_format import hierarchy_to_dict
from incrowd.publishing.release import Release

QUASI = ["age", "sex", "education", "marital", "race", "birth_place"]
SENSITIVE = ["occupation"]

AGES = 15, 100
"""Declared, not looked up: differential privacy must not depend on who is there."""

HIERARCHIES: dict[str, Hierarchy] = {
    "age": Intervals(widths=CENSUS_AGE_WIDTHS, lower=AGES[0], upper=AGES[1]),
    **{name: Categories.from_tree(CENSUS_TREES[name]) for name in QUASI if name != "age"},
}


def demo_recipe(head: str, hierarchies: Mapping[str, Hierarchy]) -> str:
    """Add the columns to the head of the demo's recipe."""
    columns: dict[str, Any] = {
        name: {"role": "quasi", "hierarchy": hierarchy_to_dict(hierarchy)} for name, hierarchy in hierarchies.items()
    }
    columns |= {
        name: {"role": "sensitive", "hierarchy": hierarchy_to_dict(Categories.from_tree(CENSUS_TREES[name]))}
        for name in SENSITIVE
    }
    columns["salary"] = {"role": "drop"}
    return head + "\n" + tomli_w.dumps({"columns": columns})


def person_table(people: Path, release: Release) -> Table:
    """Show a few invented people who were the only one of their kind, and what their groups show now."""
    raw = pl.read_csv(people, infer_schema=False)
    alone = raw.unique(QUASI, keep="none").sort(QUASI)
    table = Table(
        title="People who were the only one of their kind, and the crowd each is in now", title_justify="left"
    )
    table.add_column("")
    cells: list[list[str]] = [[] for _ in (*QUASI, "rows")]
    for place in (0.3, 0.6):
        if not alone.height:
            break
        person = alone.row(int(place * (alone.height - 1)), named=True)
        group = _group_of(person, release)
        table.add_column("before", overflow="fold")
        table.add_column("now", overflow="fold", style="green")
        for row, name in zip(cells, QUASI, strict=False):
            row += [str(person[name]), str(release.generalized.shown.labels[name][group])]
        cells[-1] += ["1", str(release.form.group_sizes[group])]
    for name, row in zip((*QUASI, "rows like this"), cells, strict=True):
        table.add_row(name, *(Text(cell) for cell in row), end_section=name == QUASI[-1])
    return table


def _group_of(person: Mapping[str, Any], release: Release) -> int:
    """Return the group whose labels cover a person."""
    shown = release.generalized.shown
    covers = np.ones(len(shown), dtype=bool)
    for column, name in enumerate(shown.columns):
        values = release.form.tally.trees[name].values.cast(pl.String)
        code = int((values == person[name]).arg_max() or 0)
        covers &= (shown.lows[:, column] <= code) & (code < shown.highs[:, column])
    return int(np.argmax(covers))

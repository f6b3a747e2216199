"""Tables of names with small trees for the methods that cut hierarchies, and the same for the oracle."""

from __future__ import annotations

import numpy as np
import polars as pl

import incrowd as ic
from tests.methods.naive_cuts import Column, Cuts, Row

TREES = {
    "city": (
        ("Bonn", "west", "Rhine"),
        ("Köln", "west", "Rhine"),
        ("Mainz", "south", "Rhine"),
        ("Ulm", "Ulm", "Danube"),
    ),
    "job": (("clerk", "office"), ("lawyer", "office"), ("dancer", "art"), ("writer", "art"), ("none", "none")),
    "sex": (("f",), ("m",)),
}
"""Each value with its ancestors."""
CHAINS = {"Mainz": "south", "Ulm": "Danube"}
"""A value and its ancestors are one node to the methods where they are the same people; the highest name is shown."""
COLUMNS = tuple(TREES)


def parents_of(name: str) -> dict[str, str]:
    """Return each node's parent, chains of one left out."""
    found = {}
    for value, *ancestors in TREES[name]:
        known = [value, *(ancestor for ancestor in ancestors if ancestor not in (value, *CHAINS.values()))]
        found.update(zip(known, [*known[1:], "*"], strict=True))
    return found


def people(rows: int, seed: int) -> pl.DataFrame:
    """Return people whose income follows from their job most of the time; every name occurs."""
    rng = np.random.default_rng(seed)
    frame: dict[str, list[str]] = {}
    for name, tree in TREES.items():
        values = [row[0] for row in tree]
        frame[name] = [*values, *rng.choice(values, rows - len(values)).tolist()]
        rng.shuffle(frame[name])
    rich = [(job in ("lawyer", "clerk")) ^ (rng.random() < 0.2) for job in frame["job"]]
    return pl.DataFrame({**frame, "income": ["rich" if is_rich else "poor" for is_rich in rich]})


def opened(frame: pl.DataFrame, quasi: tuple[str, ...] = COLUMNS) -> ic.Table:
    hierarchies = {name: ic.Categories(TREES[name]) for name in quasi if name in TREES}
    return ic.read(frame, quasi=quasi, sensitive=["income"], others="drop", hierarchies=hierarchies)


def naive_columns(frame: pl.DataFrame) -> tuple[list[Row], list[Column]]:
    """Return the rows and columns for the oracle."""
    rows = [tuple(row) for row in frame.select(*COLUMNS, "income").iter_rows()]
    table = opened(frame)
    trees = table.engine.count(table.schema).tally.trees
    return rows, [
        Column(place, parents_of(name), rows, trees[name].values.to_list()[1:]) for place, name in enumerate(COLUMNS)
    ]


def shown(rows: list[Row], columns: list[Column], cuts: Cuts) -> list[tuple[str, ...]]:
    """Return what every row shows under some cuts, sorted."""
    return sorted(
        (*(_name(column.show(row, cut)) for column, cut in zip(columns, cuts, strict=True)), row[-1]) for row in rows
    )


def _name(node: str) -> str:
    return CHAINS.get(node, node)

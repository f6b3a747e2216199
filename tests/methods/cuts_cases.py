"""Tables of names with trees for the methods that cut hierarchies, and the same for the oracle."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

import incrowd as ic
from tests.methods.naive_cuts import Column, Cuts, Row

Trees = Mapping[str, tuple[tuple[str, ...], ...]]
"""Each value of each column with its ancestors."""

TREES: Trees = {
    "city": (
        ("Bonn", "west", "Rhine"),
        ("Köln", "west", "Rhine"),
        ("Mainz", "south", "Rhine"),
        ("Ulm", "Ulm", "Danube"),
    ),
    "job": (("clerk", "office"), ("lawyer", "office"), ("dancer", "art"), ("writer", "art"), ("none", "none")),
    "sex": (("f",), ("m",)),
}
LARGER_TREES: Trees = {
    "born": tuple(
        (f"{year}", f"{year - year % 2}s", f"{year - year % 4}ies", f"{year - year % 8}th") for year in range(16)
    ),
    "job": tuple((f"{field}{job}", field) for field in "abc" for job in range(3)),
    "sex": (("f",), ("m",)),
    "town": tuple((f"{region}{town}", region) for region in "xyz" for town in range(4)),
}
CHAINS = {"Mainz": "south", "Ulm": "Danube"}
"""A value and its ancestors are one node to the methods where they are the same people; the highest name is shown."""
COLUMNS = tuple(TREES)


def parents_of(tree: tuple[tuple[str, ...], ...]) -> dict[str, str]:
    """Return each node's parent, chains of one left out."""
    found = {}
    for value, *ancestors in tree:
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


def people_of_larger_trees(rows: int, seed: int, skew: float) -> pl.DataFrame:
    """Return people whose income has to do with their job and age; the larger the skew, the rarer are some values."""
    rng = np.random.default_rng(seed)
    frame: dict[str, list[str]] = {}
    for name, tree in LARGER_TREES.items():
        values = [row[0] for row in tree]
        shares = 1 / np.arange(1, len(values) + 1) ** skew
        frame[name] = [*values, *rng.choice(values, rows - len(values), p=rng.permutation(shares / shares.sum()))]
        rng.shuffle(frame[name])
    late = {row[0] for row in LARGER_TREES["born"][8:]}
    rich = [
        (job.startswith("a") ^ (rng.random() < 0.15)) or (born in late and rng.random() < 0.4)
        for job, born in zip(frame["job"], frame["born"], strict=True)
    ]
    return pl.DataFrame({**frame, "income": ["rich" if is_rich else "poor" for is_rich in rich]})


def opened(frame: pl.DataFrame, quasi: tuple[str, ...] = COLUMNS, trees: Trees = TREES) -> ic.Table:
    hierarchies = {name: ic.Categories(trees[name]) for name in quasi if name in trees}
    return ic.read(frame, quasi=quasi, sensitive=["income"], others="drop", hierarchies=hierarchies)


def naive_columns(frame: pl.DataFrame, trees: Trees = TREES) -> tuple[list[Row], list[Column]]:
    """Return the rows and columns for the oracle."""
    rows = [tuple(row) for row in frame.select(*trees, "income").iter_rows()]
    table = opened(frame, tuple(trees), trees)
    known = table.engine.count(table.schema).tally.trees
    return rows, [
        Column(place, parents_of(tree), rows, known[name].values.to_list()[1:])
        for place, (name, tree) in enumerate(trees.items())
    ]


def shown(rows: list[Row], columns: list[Column], cuts: Cuts) -> list[tuple[str, ...]]:
    """Return what every row shows under some cuts, sorted."""
    return sorted(
        (*(_name(column.show(row, cut)) for column, cut in zip(columns, cuts, strict=True)), row[-1]) for row in rows
    )


def _name(node: str) -> str:
    return CHAINS.get(node, node)

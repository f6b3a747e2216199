"""Small tables in public codes, and what is naively true of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from incrowd.common.randomness import randomness
from incrowd.dp.accountant import Accountant
from incrowd.dp.boxes.box_cuts import Specialization
from incrowd.dp.boxes.coded_rows import People
from incrowd.dp.boxes.specializing import Specializer
from incrowd.dp.boxes.utilities import Utility
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.intervals import Intervals
from incrowd.hierarchies.public import public_tree
from incrowd.hierarchies.tree import Tree

Row = tuple[int, ...]
"""Codes of the columns, and the class."""

NOISELESS = 10**6
"""An ε at which noise is 0 but for one time in e**1000000."""

PLACES = Categories.from_tree({"Asia": ["China", "Korea"], "America": ["Canada", "USA"], "Europe": ["Italy"]})
TREES: tuple[Tree, ...] = (
    public_tree("place", PLACES),
    public_tree("age", Intervals(widths=(1,), lower=0, upper=4)),
)


def people_of(rows: Sequence[Row], classes: int, columns: int = 2) -> People:
    """Return rows as distinct tuples with counts."""
    counted = sorted(Counter(rows).items())
    cells = np.array([row for row, _ in counted], dtype=np.int64).reshape(len(counted), columns + 1)
    counts = np.array([count for _, count in counted], dtype=np.int64)
    return People(cells[:, :-1].astype(np.int32), cells[:, -1].copy(), classes, counts)


def specializer(
    people: People, utility: Utility, seed: int = 0, missing: Sequence[bool] = (False, False)
) -> Specializer:
    """Return a search over both columns that has not begun."""
    return Specializer(people, TREES, missing, utility, randomness(seed), Accountant())


def random_rows(rng: np.random.Generator, number: int, classes: int, *, first: int = 1) -> list[Row]:
    """Return rows with any values of both columns."""
    sizes = [tree.size for tree in TREES]
    return [(*(int(rng.integers(first, size)) for size in sizes), int(rng.integers(0, classes))) for _ in range(number)]


def boxes_of(rows: Sequence[Row], runs: Sequence[Sequence[tuple[int, int]]]) -> dict[tuple[int, ...], list[Row]]:
    """Put rows into boxes, one by one: which run of each column holds the value."""
    found: dict[tuple[int, ...], list[Row]] = {}
    for row in rows:
        box = tuple(
            next(place for place, (low, high) in enumerate(column) if low <= value < high)
            for value, column in zip(row, runs, strict=False)
        )
        found.setdefault(box, []).append(row)
    return found


def naive_purity(rows: Sequence[Row]) -> float:
    """Return Σ n_class² / n."""
    return sum(count**2 for count in Counter(row[-1] for row in rows).values()) / len(rows) if rows else 0.0


def with_run(one: Specialization, rows: Sequence[Row]) -> list[Row]:
    """Return the rows that a specialization is about."""
    return [row for row in rows if one.run[0] <= row[one.column] < one.run[1]]

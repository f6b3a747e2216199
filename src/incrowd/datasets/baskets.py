"""A generator of shopping baskets: people and the sets of items that they bought.

A few items are in many baskets, most are in hardly any: popularity falls by a power law. Items lie on shelves, shelves
in departments; a basket has two departments that it is mostly filled from, so that items go together. Lengths are
long-tailed: most baskets are small, a few have ten times the mean. All figures are made up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.datasets._draws import ConditionalDraw, draw_unconditionally

SHELF_ITEMS = 10
DEPARTMENT_SHELVES = 10
FALL = 2.5
"""The exponent of popularity: an item of rank r is bought in proportion to (r + OFFSET) ** -FALL."""
OFFSET = 40.0
LENGTH_SPREAD = 0.8
"""Standard deviation of the logarithm of a basket's length."""
MAIN_SHARE, SECOND_SHARE = 0.45, 0.2
"""Share of a basket's items that comes from its main department, and from its second one; the rest is from anywhere."""
BLOCK_PEOPLE = 100_000
ROUNDS = 6
"""How often a person draws again in place of items that are in the basket already."""


def baskets(people: int = 10_000, kinds: int = 500, *, mean_length: float = 6.6, seed: int = 0) -> pl.DataFrame:
    """Return one row per item that a person has bought: the person's number and the item's name.

    >>> bought = baskets(100, kinds=20)
    >>> bought.columns, bought["person"].n_unique()
    (['person', 'item'], 100)
    >>> bought.equals(baskets(100, kinds=20, seed=0)), bought.equals(baskets(100, kinds=20, seed=1))
    (True, False)
    """
    person, item = basket_codes(people, kinds, mean_length=mean_length, seed=seed)
    names = pl.Series("item", _names(kinds), dtype=pl.String)
    return pl.DataFrame({"person": person, "item": names.gather(item)})


def basket_tree(kinds: int = 500) -> dict[str, Any]:
    """Return the hierarchy of the items as `Categories.from_tree` takes it: departments, shelves, items.

    >>> basket_tree(3)
    {'D00': {'D00-0': ['D00-0-0', 'D00-0-1', 'D00-0-2']}}
    """
    tree: dict[str, Any] = {}
    for name in _names(kinds):
        department, shelf, _ = name.split("-")
        tree.setdefault(department, {}).setdefault(f"{department}-{shelf}", []).append(name)
    return tree


def basket_codes(
    people: int, kinds: int, *, mean_length: float = 6.6, seed: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the same as `baskets` in numbers from 0: each row's person, ascending, and its item."""
    for name, value in {"people": people, "kinds": kinds - 1, "mean_length": mean_length - 1, "seed": seed}.items():
        if value < 0:
            raise ValueError(f"{name} is too small")
    world = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))
    popularity = np.power(np.arange(kinds) + OFFSET, -FALL, dtype=np.float64)[world.permutation(kinds)]
    parts = []
    for number, start in enumerate(range(0, people, BLOCK_PEOPLE)):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1, number)))
        parts.append(start * kinds + _block(rng, min(BLOCK_PEOPLE, people - start), popularity, mean_length))
    keys = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
    return keys // kinds, keys % kinds


def _block(
    rng: np.random.Generator, people: int, popularity: NDArray[np.float64], mean_length: float
) -> NDArray[np.int64]:
    """Return the distinct pairs of a block's people and items, as person × kinds + item."""
    kinds = len(popularity)
    department = np.arange(kinds) // (SHELF_ITEMS * DEPARTMENT_SHELVES)
    departments = int(department[-1]) + 1
    weights = np.where(np.arange(departments)[:, None] == department, popularity, 0.0)
    items = ConditionalDraw.of(np.vstack((weights, popularity)))  # the last line: from anywhere
    main, second = draw_unconditionally(rng, weights.sum(axis=1), 2 * people).reshape(2, people)
    typical = np.log(max(mean_length - 1.0, 1e-9)) - LENGTH_SPREAD**2 / 2
    length = np.minimum(1 + rng.poisson(rng.lognormal(typical, LENGTH_SPREAD, people)), kinds)
    keys = np.empty(0, dtype=np.int64)
    for _ in range(ROUNDS):
        person = np.repeat(np.arange(people), length - np.bincount(keys // kinds, minlength=people))
        chance = rng.random(len(person))
        source = np.where(chance < MAIN_SHARE + SECOND_SHARE, second[person], departments)
        source = np.where(chance < MAIN_SHARE, main[person], source)
        keys = np.sort(np.concatenate((keys, person * kinds + items.draw(rng, source))))
        keys = keys[np.diff(keys, prepend=-1) > 0]
    return keys


def _names(kinds: int) -> list[str]:
    in_department = SHELF_ITEMS * DEPARTMENT_SHELVES
    return [
        f"D{item // in_department:02}-{item // SHELF_ITEMS % DEPARTMENT_SHELVES}-{item % SHELF_ITEMS}"
        for item in range(kinds)
    ]

"""k^m-anonymity and LKC-privacy as they are defined, in plain Python: every combination of every set, one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from hypothesis import strategies as st

from incrowd.core.item_sets import ItemSets
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.nodes import Nodes
from incrowd.hierarchies.tree import Tree

Person = tuple[frozenset[int], int]
"""A set and a sensitive code."""

ITEMS = 8
TREES: dict[str, Any] = {
    "flat": [f"i{item}" for item in range(ITEMS)],
    "two levels": {"a": ["i0", "i1", "i2"], "b": ["i3", "i4"], "c": ["i5", "i6", "i7"]},
    "deep": {
        "a": {"b": {"c": ["i0", "i1"], "d": ["i2"]}, "e": {"f": ["i3", "i4", "i5"]}},
        "g": {"h": {"j": ["i6", "i7"]}},
    },
}


def tree_of(nested: Any) -> Tree:
    tree, _ = Categories.from_tree(nested).build("item", pl.Series([], dtype=pl.String))
    return tree


def nodes_of(name: str) -> Nodes:
    return Nodes.of(tree_of(TREES[name]))


def people_strategy(values: int = 1) -> st.SearchStrategy[list[Person]]:
    sets = st.frozensets(st.integers(1, ITEMS), max_size=ITEMS)
    return st.lists(st.tuples(sets, st.integers(0, values - 1)), max_size=30)


def as_sets(people: Sequence[Person], *, sensitive: bool = False) -> tuple[ItemSets, Any]:
    pairs = [(number, item) for number, (items, _) in enumerate(people) for item in items]
    person, item = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    values = np.array([value for _, value in people], dtype=np.int32) if sensitive else None
    return ItemSets.from_pairs(person, item.astype(np.int32), people=len(people), sensitive=values)


def as_people(sets: ItemSets) -> list[Person]:
    """Return everybody's set, as often as people have it."""
    found = []
    for one in range(len(sets)):
        items = frozenset(sets.items[sets.offsets[one] : sets.offsets[one + 1]].tolist())
        value = 0 if sets.sensitive is None else int(sets.sensitive[one])
        found.extend([(items, value)] * int(sets.counts[one]))
    return found


def supports(people: Iterable[Person], size: int) -> dict[tuple[int, ...], Counter[int]]:
    """Return who has each combination of a size, by their sensitive values."""
    found: dict[tuple[int, ...], Counter[int]] = {}
    for items, value in people:
        for combination in combinations(sorted(items), size):
            found.setdefault(combination, Counter())[value] += 1
    return found


def is_unsafe(crowd: Counter[int], k: int, share: float = 1.0) -> bool:
    return crowd.total() < k or max(crowd.values()) > share * crowd.total() + 1e-9


def is_safe(people: Sequence[Person], k: int, m: int, share: float = 1.0) -> bool:
    whole = Counter(value for _, value in people)
    if people and max(whole.values()) > share * len(people) + 1e-9:
        return False
    return not any(is_unsafe(crowd, k, share) for size in range(1, m + 1) for crowd in supports(people, size).values())


def covering(published: Sequence[Person], nodes: Nodes, items: Iterable[int]) -> Counter[int]:
    """Return the people, by sensitive value, whose published set has a node above each of these items, or the item."""
    found: Counter[int] = Counter()
    for shown, value in published:
        if all(any(nodes.lows[node] <= item < nodes.highs[node] for node in shown) for item in items):
            found[value] += 1
    return found

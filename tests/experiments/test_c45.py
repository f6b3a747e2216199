"""C4.5 on tables whose trees are printed in every book."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.experiments.c45 import C45, CONFIDENCE, Z
from incrowd.kernels.decision_tree import pessimistic_errors

OUTLOOK = {"sunny": 0, "overcast": 1, "rain": 2}
GOLF = [
    ("sunny", 85, 85, 0, 0), ("sunny", 80, 90, 1, 0), ("overcast", 83, 78, 0, 1), ("rain", 70, 96, 0, 1),
    ("rain", 68, 80, 0, 1), ("rain", 65, 70, 1, 0), ("overcast", 64, 65, 1, 1), ("sunny", 72, 95, 0, 0),
    ("sunny", 69, 70, 0, 1), ("rain", 75, 80, 0, 1), ("sunny", 75, 70, 1, 1), ("overcast", 72, 90, 1, 1),
    ("overcast", 81, 75, 0, 1), ("rain", 71, 80, 1, 0),
]  # fmt: skip
"""Quinlan's: outlook, temperature, humidity, windy, and whether to play."""


def fit(features: Any, classes: Any, weights: Any, numeric: tuple[bool, ...], kinds: int = 2) -> C45:
    """Grow a tree on whole numbers, each a code of its own."""
    codes = np.asarray(features, dtype=np.int32)
    values = [np.arange(column.max(initial=0) + 1.0) for column in codes.T]
    return C45.fit(
        codes, np.asarray(classes), np.asarray(weights, dtype=float), values=values, numeric=numeric, kinds=kinds
    )


def child(tree: C45, node: int, branch: int) -> int:
    parents, led_by = tree.branches.T
    return int(np.flatnonzero((parents == node) & (led_by == branch))[0])


def test_quinlans_tree() -> None:
    """Outlook first; then humidity at 75 to 78 where it is sunny, and wind where it rains."""
    features = np.array([(OUTLOOK[outlook], heat, damp, wind) for outlook, heat, damp, wind, _ in GOLF])
    plays = np.array([row[-1] for row in GOLF])
    tree = fit(features, plays, np.ones(len(GOLF)), (False, True, True, False))
    assert tree.splits[0, 0] == 0
    assert tree.splits[child(tree, 0, OUTLOOK["overcast"]), 0] == -1
    assert tree.splits[child(tree, 0, OUTLOOK["sunny"]), 0] == 2
    assert 70 <= tree.splits[child(tree, 0, OUTLOOK["sunny"]), 1] < 85
    assert tree.splits[child(tree, 0, OUTLOOK["rain"]), 0] == 3
    assert (tree.predict(features) == plays).all()


def test_a_weight_is_so_many_rows() -> None:
    rng = np.random.default_rng(0)
    features = rng.integers(0, 4, size=(60, 3))
    classes = ((features[:, 0] > 1) ^ (rng.random(60) < 0.1)).astype(int)
    times = rng.integers(1, 4, size=60)
    numeric = (True, False, True)
    weighted = fit(features, classes, times, numeric)
    rows = np.repeat(np.arange(60), times)
    repeated = fit(features[rows], classes[rows], np.ones(len(rows)), numeric)
    assert (weighted.predict(features) == repeated.predict(features)).all()
    assert weighted.splits[0, 0] == repeated.splits[0, 0] == 0


def test_noise_alone_is_pruned_to_a_leaf() -> None:
    rng = np.random.default_rng(1)
    features, classes = rng.integers(0, 1000, (300, 4)), (rng.random(300) < 0.1).astype(int)
    tree = fit(features, classes, np.ones(300), (True,) * 4)
    assert (tree.predict(features) == 0).mean() > 0.95


def pessimistic(rows: float, wrong: float) -> float:
    return pessimistic_errors(rows, wrong, CONFIDENCE, Z)


def test_quinlans_pessimistic_errors() -> None:
    """C4.5's own example: leaves of 6, 9 and 1 rows without an error have 3.273 expected ones, one leaf has 2.63."""
    assert 6 * (1 - 0.25 ** (1 / 6)) == pytest.approx(pessimistic(6, 0)) == pytest.approx(6 * 0.206, abs=0.005)
    assert pessimistic(9, 0) == pytest.approx(9 * 0.143, abs=0.005)
    assert pessimistic(1, 0) == pytest.approx(0.75, abs=0.001)
    assert pessimistic(16, 1) == pytest.approx(16 * 0.157, abs=0.15)
    assert pessimistic(3, 2.6) == 3  # as good as all of them
    assert pessimistic(10, 0.5) == pytest.approx((pessimistic(10, 0) + pessimistic(10, 1)) / 2)


@pytest.mark.parametrize("kinds", [1, 3, 5])
def test_any_number_of_classes(kinds: int) -> None:
    """What is the same in every row of a class is found, for numbers and for names."""
    codes = np.repeat(np.arange(kinds), 30)[:, None] * 2
    for ordered in (False, True):
        tree = fit(codes, codes[:, 0] // 2, np.ones(len(codes)), (ordered,), kinds)
        assert (tree.predict(codes.astype(np.int32)) == codes[:, 0] // 2).all()


@pytest.mark.parametrize("rows", [0, 1])
def test_almost_nobody(rows: int) -> None:
    tree = fit(np.ones((rows, 2)), np.zeros(rows, dtype=int), np.ones(rows), (True, False))
    assert tree.predict(np.zeros((3, 2), dtype=np.int32)).tolist() == [0, 0, 0]


def test_a_threshold_is_in_the_middle_of_two_values() -> None:
    """Codes 0, 3 and 9 stand for 0, 30 and 40: what stands for 16 is above the middle of 0 and 30, for 14 below."""
    values = [np.array([0, 14, 16, 30, 31, 32, 33, 34, 35, 40.0])]
    codes, classes = np.array([[0], [3], [9]], dtype=np.int32), np.array([0, 1, 1])
    tree = C45.fit(codes, classes, np.full(3, 50.0), values=values, numeric=(True,), kinds=2)
    assert tree.predict(np.arange(10, dtype=np.int32)[:, None]).tolist() == [0, 0, *[1] * 8]


def test_a_value_that_was_not_seen_gets_its_nodes_class() -> None:
    codes, classes = np.array([[0], [1], [3]]), np.array([0, 1, 1])
    tree = fit(codes, classes, [90, 50, 20], (False,))
    assert tree.predict(np.array([[0], [1], [2], [3], [7]], dtype=np.int32)).tolist() == [0, 1, 0, 1, 0]


@pytest.mark.parametrize("above", [False, True])
@pytest.mark.parametrize("ordered", [False, True])
def test_two_rows_are_enough_for_a_branch_on_either_side(above: bool, ordered: bool) -> None:
    """Although the sum of many thirds is not quite theirs."""
    codes = np.repeat([[int(not above)], [int(above)]], [44, 1], axis=0)
    tree = fit(codes, [0] * 44 + [1], [1 / 3] * 44 + [2.0], (ordered,))
    assert tree.predict(np.array([[0], [1]], dtype=np.int32)).tolist() == ([0, 1] if above else [1, 0])


def test_codes_below_0_are_refused() -> None:
    with pytest.raises(ValueError, match="from 0 on"):
        fit(np.array([[-1], [0]]), [0, 1], [5, 5], (True,))


Row = tuple[tuple[int, ...], int, float]


def entropy(counts: list[float]) -> float:
    return -sum(count / sum(counts) * math.log2(count / sum(counts)) for count in counts if count > 0)


def weights_of(rows: list[Row]) -> list[float]:
    found: dict[int, float] = defaultdict(float)
    for _, kind, weight in rows:
        found[kind] += weight
    return [found[kind] for kind in range(2)]


def slow_tree(rows: list[Row], numeric: tuple[bool, ...]) -> tuple[Any, float]:
    """Grow and prune row by row; return the tree, and the errors that are expected of it."""
    counts, total = weights_of(rows), sum(weight for *_, weight in rows)
    leaf = ("leaf", counts), pessimistic(total, total - max(counts))
    if total < 4 or min(counts) <= 0:
        return leaf
    tried = []
    for column, ordered in enumerate(numeric):
        seen = sorted({values[column] for values, *_ in rows})
        ways = []
        for cut in [(low + high) / 2 for low, high in pairwise(seen)] if ordered else [None]:
            parts: dict[int, list[Row]] = {}
            for row in rows:
                parts.setdefault(row[0][column] if cut is None else int(row[0][column] > cut), []).append(row)
            sizes = [sum(weights_of(part)) for part in parts.values()]
            if sum(size >= 2 for size in sizes) < 2:
                continue
            after = sum(size * entropy(weights_of(part)) for size, part in zip(sizes, parts.values(), strict=True))
            ways.append((entropy(counts) - after / total, -(cut or 0), entropy(sizes), parts))
        if ways:
            gain, cut, spread, parts = max(ways, key=lambda way: (round(way[0], 9), way[1]))
            gain -= math.log2(len(seen) - 1) / total if ordered else 0
            if gain > 1e-9:
                tried.append((gain, gain / spread, column, -cut if ordered else None, parts))
    if not tried:
        return leaf
    average = sum(gain for gain, *_ in tried) / len(tried)
    good = [way for way in tried if way[0] >= average - 1e-9]
    _, _, column, cut, parts = max(good, key=lambda way: (round(way[1], 9), -way[2]))
    below = {branch: slow_tree(part, numeric) for branch, part in parts.items()}
    errors = sum(expected for _, expected in below.values())
    if leaf[1] <= errors + 0.1:
        return leaf
    return ("node", column, cut, {branch: tree for branch, (tree, _) in below.items()}, counts), errors


def slow_class(tree: Any, values: tuple[int, ...]) -> int:
    while tree[0] == "node":
        _, column, cut, children, counts = tree
        branch = values[column] if cut is None else int(values[column] > cut)
        tree = children.get(branch, ("leaf", counts))
    return int(np.argmax(tree[1]))


@given(st.integers(0, 2**32), st.integers(1, 120), st.integers(1, 4), st.integers(1, 12))
def test_the_tree_of_a_loop_over_rows(seed: int, rows: int, columns: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, most, size=(rows, columns))
    classes = (codes.sum(axis=1) + rng.integers(0, most, rows) > columns * most / 2).astype(int)
    weights, numeric = rng.integers(1, 40, rows) / 4, tuple(map(bool, rng.integers(0, 2, columns)))
    people = [
        (tuple(map(int, row)), int(kind), float(weight))
        for row, kind, weight in zip(codes, classes, weights, strict=True)
    ]
    slow, _ = slow_tree(people, numeric)
    asked = rng.integers(0, most + 1, size=(200, columns))
    fast = fit(codes, classes, weights, numeric).predict(asked.astype(np.int32))
    assert fast.tolist() == [slow_class(slow, tuple(map(int, row))) for row in asked]

"""Answers from boxes that were counted one by one are those of a sum over the boxes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.dp.boxes.flat_boxes import FlatBoxes
from incrowd.dp.boxes.noisy_tree import NoisyTree

SIZES = (7, 1, 5, 4)


def boxes_of(rng: np.random.Generator, *, classes: int, boxes: int) -> NoisyTree:
    """Boxes with some runs in the first, third and fourth column, of which the third has one run at times."""
    lows, highs = np.zeros((2, boxes, len(SIZES)), dtype=np.int32)
    for column, size in enumerate(SIZES):
        edges = np.unique(np.concatenate([[0, size], rng.integers(0, size + 1, int(rng.integers(0, 3)))]))
        run = rng.integers(0, len(edges) - 1, boxes)
        lows[:, column], highs[:, column] = edges[run], edges[run + 1]
    noisy = rng.integers(-5, 40, (boxes, classes))
    return NoisyTree(np.full(boxes, -1), lows, highs, noisy, np.full(boxes, 3.5))


def in_python(tree: NoisyTree, asked: dict[int, np.ndarray], classes: np.ndarray) -> tuple[float, float, float]:
    """The same, box by box."""
    center = noise = spread = 0.0
    for low, high, counts in zip(tree.lows, tree.highs, tree.noisy, strict=True):
        share = math.prod(float(np.mean(one[low[column] : high[column]])) for column, one in asked.items())
        count = sum(int(number) for number, wanted in zip(counts, classes, strict=True) if wanted)
        center += share * count
        noise += share**2 * 3.5 * int(classes.sum())
        spread += math.sqrt(share * (1 - share)) * count
    return center, noise, max(spread, 0.0)


@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 3))
def test_answers_are_sums_over_boxes(seed: int, boxes: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    tree = boxes_of(rng, classes=classes, boxes=boxes)
    flat = FlatBoxes.of(tree)
    assert flat is not None
    for conditions in (0, 1, 2, 3, 4, 3, 2):  # the same columns are asked about again, in another order
        columns = rng.permutation(len(SIZES))[:conditions].tolist()
        asked = {column: rng.random(SIZES[column]) < 0.5 for column in columns}
        wanted = rng.random(classes) < 0.7
        assert flat.parts(asked, wanted) == pytest.approx(in_python(tree, asked, wanted), abs=1e-9)


@given(st.integers(0, 10**6))
def test_the_order_of_boxes_changes_no_bit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree, order = boxes_of(rng, classes=2, boxes=40), rng.permutation(40)
    other = NoisyTree(tree.parents, tree.lows[order], tree.highs[order], tree.noisy[order], tree.variances)
    one, two = FlatBoxes.of(tree), FlatBoxes.of(other)
    assert one is not None
    assert two is not None
    for columns in ((0,), (2, 0), (3, 2, 0)):
        asked = {column: rng.random(SIZES[column]) < 0.5 for column in columns}
        assert one.parts(asked, np.array([True, False])) == two.parts(asked, np.array([True, False]))


def test_boxes_inside_of_others_or_with_different_noise_are_not_flat() -> None:
    tree = boxes_of(np.random.default_rng(1), classes=1, boxes=3)
    boxes = tree.lows, tree.highs, tree.noisy
    assert FlatBoxes.of(NoisyTree(np.array([-1, 0, 0]), *boxes, tree.variances)) is None
    assert FlatBoxes.of(NoisyTree(tree.parents, *boxes, np.array([1.0, 2.0, 1.0]))) is None
    assert FlatBoxes.of(NoisyTree(tree.parents, *boxes, np.full(3, np.inf))) is None
    empty = boxes_of(np.random.default_rng(1), classes=1, boxes=0)
    assert FlatBoxes.of(empty) is None


def test_it_pays_where_there_are_fewer_combinations_than_boxes() -> None:
    lows = np.array([[one, two] for one in range(10) for two in range(3)], dtype=np.int32)
    tree = NoisyTree(np.full(30, -1), lows, lows + 1, np.ones((30, 1), dtype=np.int64), np.ones(30))
    flat = FlatBoxes.of(tree)
    assert flat is not None
    assert [flat.pays(asked) for asked in ((), (0,), (1,), (0, 1))] == [True, True, True, False]

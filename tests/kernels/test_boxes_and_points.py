from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from incrowd.kernels.boxes_and_points import divide, points_in_boxes, sum_of_boxes_at_points

Boxes = tuple[NDArray[np.int32], NDArray[np.int32]]


def agrees_with_trying_all(boxes: Boxes, points: NDArray[np.int32], seed: int = 0) -> None:
    lows, highs = boxes
    dice = np.random.default_rng(seed)
    box_weights = dice.choice([0.0, 0.5, 1.0, 3.0], len(lows))  # sums of these are exact
    point_weights = dice.integers(0, 2**40, len(points))
    inside = ((lows[:, None] <= points[None]) & (points[None] < highs[:, None])).all(axis=2)
    assert np.array_equal(sum_of_boxes_at_points(lows, highs, box_weights, points), box_weights @ inside)
    assert np.array_equal(points_in_boxes(lows, highs, points, point_weights), inside @ point_weights)


def random_boxes(dice: np.random.Generator, number: int, columns: int, domain: int, widest: int) -> Boxes:
    lows = dice.integers(0, domain, (number, columns)).astype(np.int32)
    return lows, (lows + dice.integers(0, widest + 1, (number, columns))).astype(np.int32)


def partition(points: NDArray[np.int32], size: int) -> Boxes:
    """Cut space at medians, column after column in turn: boxes that touch and do not overlap."""
    columns = points.shape[1]
    todo = [(points, np.zeros(columns, dtype=np.int32), np.full(columns, points.max() + 1, dtype=np.int32), 0)]
    done = []
    while todo:
        members, low, high, turn = todo.pop()
        cut = np.median(members[:, turn % columns]).astype(np.int32)
        below = members[:, turn % columns] < cut
        if len(members) <= size or not below.any():
            done.append((low, high))
            continue
        middle_high, middle_low = high.copy(), low.copy()
        middle_high[turn % columns] = middle_low[turn % columns] = cut
        todo += [(members[below], low, middle_high, turn + 1), (members[~below], middle_low, high, turn + 1)]
    return np.array([low for low, _ in done]), np.array([high for _, high in done])


@given(
    seed=st.integers(0, 2**32),
    boxes=st.integers(0, 60),
    points=st.integers(0, 80),
    columns=st.integers(0, 4),
    domain=st.sampled_from([1, 2, 5, 30]),
    widest=st.sampled_from([0, 1, 3, 30]),
)
def test_small_ones(seed: int, boxes: int, points: int, columns: int, domain: int, widest: int) -> None:
    dice = np.random.default_rng(seed)
    found = random_boxes(dice, boxes, columns, domain, widest)
    agrees_with_trying_all(found, dice.integers(-1, domain + widest, (points, columns)).astype(np.int32), seed)


@given(
    seed=st.integers(0, 2**32), columns=st.integers(1, 6), domain=st.sampled_from([3, 50]), few=st.sampled_from([0, 7])
)
def test_dividing_to_the_end_agrees(seed: int, columns: int, domain: int, few: int) -> None:
    # Small tables are otherwise tried pair by pair after a division or two.
    dice = np.random.default_rng(seed)
    lows, highs = random_boxes(dice, int(dice.integers(1, 12)), columns, domain, domain)
    points = dice.integers(0, 2 * domain, (int(dice.integers(1, 12)), columns)).astype(np.int32)
    inside = ((lows[:, None] <= points[None]) & (points[None] < highs[:, None])).all(axis=2)
    boxes = np.concatenate([lows, highs], axis=1)
    at_points, in_boxes = divide(boxes, np.ones(len(boxes)), points, np.ones(len(points), dtype=np.int64), few=few)
    assert np.array_equal(at_points, inside.sum(axis=0))
    assert np.array_equal(in_boxes, inside.sum(axis=1))


@pytest.mark.parametrize("columns", [1, 2, 3, 8, 20])
@pytest.mark.parametrize(("domain", "widest"), [(2, 1), (9, 9), (1000, 1), (1000, 400), (2**30, 2**29)])
def test_large_ones(columns: int, domain: int, widest: int) -> None:
    dice = np.random.default_rng(columns)
    boxes = random_boxes(dice, 700, columns, domain, widest)
    points = dice.integers(0, min(domain + widest, 2**31 - 1), (900, columns)).astype(np.int32)
    points[:400] = (boxes[0][:400] // 2 + boxes[1][:400] // 2).astype(np.int32)  # far apart, few are hit by chance
    agrees_with_trying_all(boxes, points)


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_each_point_is_in_one_part_of_a_partition(columns: int) -> None:
    points = np.random.default_rng(1).integers(0, 50, (3000, columns)).astype(np.int32)
    lows, highs = partition(points, 6)
    assert (sum_of_boxes_at_points(lows, highs, np.ones(len(lows)), points) == 1).all()
    agrees_with_trying_all((lows, highs), points)


def test_boxes_that_are_all_alike() -> None:
    points = np.random.default_rng(2).integers(0, 9, (2000, 3)).astype(np.int32)
    lows, highs = np.full((2000, 3), 2, dtype=np.int32), np.full((2000, 3), 7, dtype=np.int32)
    agrees_with_trying_all((lows, highs), points)


def test_boxes_within_boxes() -> None:
    sizes = np.arange(1, 1001, dtype=np.int32)[:, None]
    boxes = (np.repeat(-sizes, 3, axis=1), np.repeat(sizes, 3, axis=1))
    agrees_with_trying_all(boxes, np.random.default_rng(3).integers(-1100, 1100, (800, 3)).astype(np.int32))


def test_points_that_are_all_alike() -> None:
    boxes = random_boxes(np.random.default_rng(4), 2000, 2, 9, 9)
    agrees_with_trying_all(boxes, np.full((2000, 2), 8, dtype=np.int32))


def test_a_box_ends_before_its_high() -> None:
    found = sum_of_boxes_at_points([[2]], [[4]], [1.0], [[1], [2], [3], [4]])
    assert found.tolist() == [0, 1, 1, 0]


def test_an_empty_box_holds_nothing() -> None:
    lows, highs = np.array([[3, 0], [5, 0]]), np.array([[3, 9], [2, 9]])
    points = np.stack([np.arange(9), np.arange(9)], axis=1)
    assert sum_of_boxes_at_points(lows, highs, [1.0, 1.0], points).tolist() == [0] * 9
    assert points_in_boxes(lows, highs, points, np.ones(9)).tolist() == [0, 0]


def test_no_boxes_and_no_points() -> None:
    nothing = np.empty((0, 3), dtype=np.int32)
    points = np.zeros((2, 3), dtype=np.int32)
    assert sum_of_boxes_at_points(nothing, nothing, [], points).tolist() == [0, 0]
    assert points_in_boxes(nothing, nothing, points, [1, 1]).tolist() == []
    assert sum_of_boxes_at_points(points, points + 1, [1.0, 1.0], nothing).tolist() == []
    assert points_in_boxes(points, points + 1, nothing, []).tolist() == [0, 0]


def test_weights_add_up_exactly_beyond_what_a_float_holds() -> None:
    points = np.arange(2000, dtype=np.int32)[:, None]
    weights = np.full(2000, 2**51 + 1)
    assert points_in_boxes([[0], [500]], [[2000], [1500]], points, weights).tolist() == [
        2000 * (2**51 + 1),
        1000 * (2**51 + 1),
    ]


def test_nothing_that_is_given_changes() -> None:
    dice = np.random.default_rng(5)
    lows, highs = random_boxes(dice, 300, 4, 20, 9)
    points = dice.integers(0, 25, (300, 4)).astype(np.int32)
    weights = np.ones(300)
    copies = [given.copy() for given in (lows, highs, points, weights)]
    sum_of_boxes_at_points(lows, highs, weights, points)
    points_in_boxes(lows, highs, points, weights)
    assert all(np.array_equal(given, copy) for given, copy in zip((lows, highs, points, weights), copies, strict=True))


def test_arrays_may_lie_in_memory_as_they_like() -> None:
    dice = np.random.default_rng(6)
    lows, highs = random_boxes(dice, 200, 3, 20, 9)
    points = dice.integers(0, 25, (300, 3)).astype(np.int32)
    expected = sum_of_boxes_at_points(lows, highs, np.ones(200), points)
    turned = [np.asfortranarray(given.astype(np.int64)) for given in (lows, highs, points)]
    found = sum_of_boxes_at_points(turned[0], turned[1], np.ones(400)[::2], turned[2])
    assert np.array_equal(found, expected)
    reverse = sum_of_boxes_at_points(lows[::-1], highs[::-1], np.ones(200), points[::-1])
    assert np.array_equal(reverse[::-1], expected)

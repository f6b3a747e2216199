"""Intervals: every value is in the interval that is written for it, at every level, and intervals nest."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from incrowd.errors import HierarchyError, UncoveredValue
from incrowd.hierarchies import labels
from incrowd.hierarchies.intervals import Intervals, number_text
from tests.hierarchies.grown import CHECKED

numbers = st.lists(
    st.integers(-1000, 1000).map(float) | st.integers(-(10**4), 10**4).map(lambda n: n / 10) | st.floats(-1e6, 1e6),
    min_size=1,
    max_size=10,
    unique=True,
)
finest = st.sampled_from([1, 5, 0.1, 0.3, 0.25, 1e-3, 1e-9, 1 / 3, 7])
shapes = st.builds(
    lambda width, ratios, origin, lower, reach: Intervals(
        widths=tuple(float(np.prod([width, *ratios[:place]])) for place in range(len(ratios) + 1)),
        origin=origin,
        lower=lower,
        upper=None if reach is None else (lower or 0) + reach,
    ),
    finest,
    st.lists(st.integers(2, 5), max_size=2),
    st.sampled_from([0.0, 0.5, -3.0]),
    st.none() | st.sampled_from([-100.0, 0.0, 18.5]),
    st.none() | st.sampled_from([1.0, 62.3, 500.0]),
)


def holds(name: str, value: float) -> bool:
    match labels.read(name, ordered=True):
        case labels.Range(low, high):
            return (low is None or float(low) <= value) and (high is None or value < float(high))
        case labels.Name(text):
            return float(text) == value
        case labels.Anything():
            return True
    raise AssertionError(name)


@CHECKED
@given(shapes, numbers)
@example(Intervals(widths=(0.1, 0.2)), [0.3, 0.1 + 0.2, 0.7, 0.6 + 0.1])
@example(Intervals(widths=(5,)), [-math.inf, 0.0, math.inf])
@example(Intervals(widths=(5,), lower=0, upper=80), [-math.inf, 7.0, math.inf])
def test_a_value_is_in_its_interval_at_every_level(shape: Intervals, found: list[float]) -> None:
    tree, codes = shape.build("x", pl.Series(found))
    for value, code in zip(found, codes, strict=True):
        for level, names in zip(tree.nodes, tree.names, strict=True):
            assert holds(names[int(level[code])], value)


@CHECKED
@given(shapes, numbers)
def test_intervals_of_one_level_do_not_overlap(shape: Intervals, found: list[float]) -> None:
    tree, _ = shape.build("x", pl.Series(found))
    for level, names in zip(tree.nodes[1:-1], tree.names[1:-1], strict=True):
        for code in range(1, tree.size):
            assert [node for node in range(1, len(names)) if holds(names[node], tree.values[code])] == [level[code]]


@CHECKED
@given(shapes, numbers)
def test_every_edge_separates_its_neighbours(shape: Intervals, found: list[float]) -> None:
    tree, _ = shape.build("x", pl.Series(found))
    assert tree.edges[0] is None
    assert tree.edges[1] is None
    for code in range(2, tree.size):
        assert tree.values[code - 1] < float(tree.edges[code]) <= tree.values[code]


def test_open_ends_and_widths_by_hand() -> None:
    tree, codes = Intervals(widths=(5, 10), lower=18, upper=80).build(
        "age", pl.Series([3, 18, 23, 25, 79, 80, 99, None])
    )
    assert tree.names[1].to_list() == [None, "<18", "[18, 20)", "[20, 25)", "[25, 30)", "[75, 80)", ">=80"]
    assert tree.names[2].to_list() == [None, "<18", "[18, 20)", "[20, 30)", "[70, 80)", ">=80"]
    assert codes.tolist() == [1, 2, 3, 4, 5, 6, 7, 0]
    assert tree.edges.to_list() == [None, None, "18", "20", "25", "70", "80", "90"]


def test_cuts_by_hand() -> None:
    tree, _ = Intervals(cuts=((18, 30, 65), (18, 65))).build("age", pl.Series([17, 18, 30, 64, 65]))
    assert tree.names[1].to_list() == [None, "<18", "[18, 30)", "[30, 65)", ">=65"]
    assert tree.names[2].to_list() == [None, "<18", "[18, 65)", ">=65"]


def test_an_origin_moves_the_bounds() -> None:
    tree, _ = Intervals(widths=(10,), origin=5).build("age", pl.Series([-6, -5, 4, 5]))
    assert tree.names[1].to_list() == [None, "[-15, -5)", "[-5, 5)", "[5, 15)"]


def test_tenths_are_where_they_are_written() -> None:
    tenths = [place / 10 for place in range(-30, 30)]
    tree, _ = Intervals(widths=(0.1,)).build("x", pl.Series(tenths))
    assert tree.names[1].to_list()[1:] == [f"[{number_text(x)}, {number_text(round(x + 0.1, 1))})" for x in tenths]


def test_infinity_is_in_an_interval_of_its_own() -> None:
    tree, _ = Intervals(widths=(5, 10)).build("x", pl.Series([-math.inf, 2.0, math.inf]))
    assert tree.names[1].to_list() == [None, "-inf", "[0, 5)", "inf"]


@pytest.mark.parametrize("shape", [Intervals(widths=(5,)), Intervals(cuts=((1, 2),))])
@pytest.mark.parametrize("dtype", [pl.Int64, pl.Float64, pl.String])
def test_a_column_without_values(shape: Intervals, dtype: pl.DataType) -> None:
    tree, codes = shape.build("x", pl.Series([None, None], dtype=dtype))
    assert (tree.size, codes.tolist()) == (1, [0, 0])


def test_numbers_that_are_text_count_once_each() -> None:
    tree, codes = Intervals(widths=(5,)).build("age", pl.Series(["39", "39.0", " 41", "041", None]))
    assert codes.tolist() == [1, 1, 2, 2, 0]
    assert tree.names[0].to_list() == [None, "39", "41"]


def test_what_is_no_number_is_listed() -> None:
    with pytest.raises(UncoveredValue) as caught:
        Intervals(widths=(5,)).build("age", pl.Series(["39", "old", "ancient", None]))
    assert (caught.value.values, caught.value.total) == (("ancient", "old"), 2)


@pytest.mark.parametrize(
    ("shape", "found"),
    [
        (Intervals(widths=(1,)), [2**53, 2**53 + 1]),  # the next float is two further
        (Intervals(cuts=((5,),)), [1, 2**62 + 1]),
        (Intervals(widths=(5,)), [1.0, 1e300]),
    ],
)
def test_numbers_too_large_to_be_exact_are_refused(shape: Intervals, found: list[float]) -> None:
    with pytest.raises(HierarchyError, match="column 'x': its numbers are too large for intervals"):
        shape.build("x", pl.Series(found))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "need either widths or cuts"),
        ({"widths": (5,), "cuts": ((1,),)}, "need either widths or cuts"),
        ({"widths": (5, 12)}, "12 is not a multiple of 5.*Hint: try 10"),
        ({"widths": (5, 5)}, "5 is not a multiple of 5.*Hint: try 10"),
        ({"widths": (0,)}, "above 0"),
        ({"widths": (-5,)}, "above 0"),
        ({"widths": (math.inf,)}, "are numbers, not inf"),
        ({"widths": (math.nan,)}, "are numbers, not nan"),
        ({"widths": "5"}, "are numbers, not '5'"),
        ({"widths": (5,), "origin": "0"}, "are numbers, not '0'"),
        ({"widths": (5,), "lower": 10, "upper": 10}, r"lower \(10\) is not below upper \(10\)"),
        ({"cuts": ((),)}, "level 1 must be at least one, and ascending"),
        ({"cuts": ((5, 5),)}, "level 1 must be at least one, and ascending"),
        ({"cuts": ((5, 9), (7,))}, "level 2 cuts at 7, which level 1 does not"),
        ({"cuts": ((5,),), "lower": 1}, "lower and upper do not apply"),
    ],
)
def test_shapes_that_contradict_themselves(parameters: dict, message: str) -> None:
    with pytest.raises(HierarchyError, match=message):
        Intervals(**parameters)


def test_widths_too_far_apart_are_refused() -> None:
    with pytest.raises(HierarchyError, match="too large beside"):
        Intervals(widths=(1e-300, 1e300))

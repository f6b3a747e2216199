"""Distinction and separation: small tables by hand, and any table against its definition."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.planning.profile import separation
from incrowd.planning.profile.separation import CodedRows, best_pairs, measure, repeats, separating_sets


def coded(table: dict[str, list[object]] | pl.DataFrame) -> CodedRows:
    frame = pl.DataFrame(table)
    codes = frame.select(pl.all().hash(seed=0))
    return CodedRows({name: codes[name].to_numpy() for name in codes.columns}, frame.height, frame.height)


def test_the_ratios_of_a_small_table() -> None:
    # Groups of 2, 1 and 1: one of six pairs stays together.
    found = measure(coded({"age": [20, 20, 30, 40], "sex": ["F", "F", "F", "M"]}), ["age", "sex"])
    assert (found.groups, found.unique_rows, found.k) == (3, 2, 1)
    assert found.distinction == 0.75
    assert found.separation == pytest.approx(5 / 6)


def test_missing_is_a_value_like_any_other() -> None:
    found = measure(coded({"age": [None, None, 0, 1]}), ["age"])
    assert (found.groups, found.unique_rows) == (3, 2)


def test_one_row_is_separated_from_nothing() -> None:
    found = measure(coded({"age": [20]}), ["age"])
    assert (found.separation, found.unique_rows, found.k) == (1.0, 1, 1)


_CELLS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", None]), st.booleans()), min_size=2, max_size=30
)


@settings(deadline=None, max_examples=18)
@given(_CELLS)
def test_any_table_follows_the_definition(rows: list[tuple[int, str | None, bool]]) -> None:
    table = pl.DataFrame(rows, schema=["x", "y", "z"], orient="row")
    for columns in (["x"], ["x", "y"], ["z", "x", "y"]):
        found = measure(coded(table), columns)
        tuples = table.select(columns).rows()
        apart = sum(first != second for first, second in combinations(tuples, 2))
        assert found.separation == pytest.approx(apart / (len(rows) * (len(rows) - 1) / 2))
        assert found.groups == len(set(tuples))
        assert found.unique_rows == sum(tuples.count(row) == 1 for row in tuples)
        assert found.k == min(tuples.count(row) for row in tuples)


def test_neighbouring_numbers_do_not_collide() -> None:
    x, y, z = (axis.ravel() for axis in np.meshgrid(np.arange(60), np.arange(60), np.arange(60)))
    assert measure(coded(pl.DataFrame({"x": x, "y": y, "z": z})), ["x", "y", "z"]).groups == 60**3


def grid() -> CodedRows:
    """Two digits and a useless column: the digits together are a key."""
    numbers = np.arange(100)
    return coded(pl.DataFrame({"ten": numbers // 10, "one": numbers % 10, "half": numbers % 2}))


def test_greedy_growth_finds_the_key_and_stops_there() -> None:
    steps = separating_sets(grid(), ["half", "one", "ten"])
    assert [len(step.columns) for step in steps] == [1, 2]
    assert set(steps[-1].columns) == {"one", "ten"}
    assert steps[-1].unique_rows == 100


def test_a_column_that_became_superfluous_is_pared_away() -> None:
    # "six" is best alone, but "a" and "b" together tell all rows apart without it.
    rows = coded({"a": [0, 0, 0, 1, 1, 1, 2, 2, 2], "b": [0, 1, 2] * 3, "c": [0, 1, 2, 3, 3, 3, 4, 4, 5]})
    steps = separating_sets(rows, ["a", "b", "c"])
    assert steps[0].columns == ("c",)
    assert set(steps[-1].columns) <= {"a", "b", "c"}
    for name in steps[-1].columns:
        others = [other for other in steps[-1].columns if other != name]
        assert measure(rows, others).groups < steps[-1].groups


def test_constant_columns_are_never_part_of_a_set() -> None:
    rows = coded({"same": [1] * 6, "x": [1, 2, 3, 4, 5, 5]})
    assert [step.columns for step in separating_sets(rows, ["same", "x"])] == [("x",)]
    assert separating_sets(rows, ["same"]) == []
    assert separating_sets(rows, []) == []


def test_the_best_pair_comes_first() -> None:
    pairs = best_pairs(grid(), ["half", "one", "ten"])
    assert set(pairs[0].columns) == {"one", "ten"}
    assert [pair.separation for pair in pairs] == sorted((pair.separation for pair in pairs), reverse=True)


def test_the_order_of_columns_changes_nothing() -> None:
    first = [step.to_dict() for step in separating_sets(grid(), ["half", "one", "ten"])]
    second = [step.to_dict() for step in separating_sets(grid(), ["ten", "one", "half"])]
    assert first == second


def test_what_is_found_on_some_rows_is_measured_on_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(separation, "SEARCHED_ROWS", 10)
    steps = separating_sets(grid(), ["half", "one", "ten"])
    assert all(step.rows == 100 for step in steps)
    assert steps[-1].unique_rows == 100  # ten rows are told apart by one column, a hundred are not


def test_columns_that_say_the_same_are_found_whatever_their_values() -> None:
    rows = coded({"word": ["a", "b", "c", "a"], "code": [7, 5, 6, 7], "other": [1, 2, 3, 3]})
    assert repeats(rows, ["word", "code", "other"]) == [("word", "code")]


def test_one_row_that_parts_them_is_seen_also_outside_of_the_rows_that_are_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(separation, "SEARCHED_ROWS", 20)
    same: list[object] = [i % 3 for i in range(100)]
    assert repeats(coded({"x": same, "y": same}), ["x", "y"]) == [("x", "y")]
    for odd in range(0, 100, 7):
        assert repeats(coded({"x": same, "y": [*same[:odd], 9, *same[odd + 1 :]]}), ["x", "y"]) == []

"""The tally: distinct tuples with their counts, in one order whatever order the rows and columns had."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.tally import Tally, code_table, group_tuples


def decoded(tally: Tally) -> dict[tuple[Any, ...], int]:
    """Return the tally's tuples as values, in its order."""
    values = [tally.trees[name].values.to_list() for name in tally.columns]
    rows = [tuple(own[code] for own, code in zip(values, codes, strict=True)) for codes in tally.codes.tolist()]
    return dict(zip(rows, tally.counts.tolist(), strict=True))


def tally_of(frame: pl.DataFrame, counts: list[int] | None = None) -> tuple[Tally, list[int]]:
    tally, index = code_table(
        frame, np.array(counts or [1] * frame.height), {name: ic.Flat() for name in frame.columns}
    )
    return tally, index.tolist()


def test_columns_come_by_name_and_tuples_by_code() -> None:
    tally, index = tally_of(pl.DataFrame({"b": [1, 2, 1], "a": ["y", "x", "x"]}), [5, 6, 7])
    assert tally.columns == ("a", "b")
    assert list(decoded(tally).items()) == [(("x", 1), 7), (("x", 2), 6), (("y", 1), 5)]
    assert index == [2, 1, 0]
    assert (len(tally), tally.rows) == (3, 18)
    assert tally.column("b").tolist() == [1, 2, 1]


def test_two_spellings_of_one_number_are_one_value() -> None:
    tally, index = tally_of(pl.DataFrame({"a": ["39", "39.0", "40", " 39"]}), [1, 2, 4, 8])
    assert decoded(tally) == {(39.0,): 11, (40.0,): 4}
    assert index == [0, 0, 1, 0]


def test_missing_is_a_value_of_its_own() -> None:
    tally, index = tally_of(pl.DataFrame({"a": [None, 1, None], "b": ["x", None, None]}))
    assert list(decoded(tally)) == [(None, None), (None, "x"), (1, None)]
    assert index == [1, 2, 0]
    assert tally.has_missing("a")
    assert not tally_of(pl.DataFrame({"a": [1]}))[0].has_missing("a")


def test_value_counts_are_by_code() -> None:
    tally, _ = tally_of(pl.DataFrame({"a": [None, 1, 2, 1], "b": [1, 2, 3, 4]}), [1, 2, 4, 8])
    assert tally.value_counts("a").tolist() == [1, 10, 4]


@given(st.lists(st.tuples(st.integers(-3, 3), st.sampled_from([None, "a", "b"])), min_size=1, max_size=40))
def test_order_of_rows_and_columns_leaves_no_trace(rows: list[Any]) -> None:
    frame = pl.DataFrame(rows, schema={"x": pl.Int64, "y": pl.String}, orient="row").unique()
    counts = list(range(1, frame.height + 1))
    one, _ = tally_of(frame, counts)
    other, _ = tally_of(frame.reverse().select("y", "x"), counts[::-1])
    assert decoded(one) == dict(zip(frame.rows(), counts, strict=True))
    assert np.array_equal(one.codes, other.codes)
    assert np.array_equal(one.counts, other.counts)


# --- packing columns into one key ---


def naive_group_tuples(rows: list[tuple[int, ...]]) -> tuple[list[int], list[tuple[int, ...]]]:
    kinds = sorted(set(rows))
    return [kinds.index(row) for row in rows], kinds


def compare_with_naive(rows: list[tuple[int, ...]], sizes: list[int]) -> None:
    codes = np.array(rows, dtype=np.int32).reshape(len(rows), len(sizes))
    index, first = group_tuples(codes, sizes)
    numbers, kinds = naive_group_tuples(rows)
    assert index.tolist() == numbers
    assert [tuple(codes[place].tolist()) for place in first] == kinds


@pytest.mark.parametrize(
    "sizes",
    [
        [2**31 - 1] * 2,  # just fits
        [2**31 - 1] * 3,  # the third column does not
        [2**31 - 1] * 12,  # again and again
        [3, 2**31 - 1, 2, 2**31 - 1, 5, 2**31 - 1, 2**31 - 1],
        [1] * 8,
    ],
    ids=["two", "three", "twelve", "mixed", "ones"],
)
def test_tuples_of_huge_columns_are_told_apart_and_sorted(sizes: list[int]) -> None:
    dice = random.Random(0)
    # Few different codes, at both ends of each column: tuples that differ in one place only, and equal ones.
    pools = [sorted({0, size - 1, size // 2, min(1, size - 1)}) for size in sizes]
    rows = [tuple(dice.choice(pool) for pool in pools) for _ in range(300)]
    compare_with_naive(rows + rows[:50], sizes)


def test_a_key_that_overflowed_would_join_what_is_apart() -> None:
    # With 64 bits and no renumbering, the first column of three would be multiplied out of the key.
    size = 2**31 - 1
    rows = [(number, 0, 0, 0) for number in range(8)]
    compare_with_naive(rows, [size] * 4)


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=30))
def test_small_columns(rows: list[tuple[int, ...]]) -> None:
    compare_with_naive(rows, [4, 4, 4])


def test_no_rows_and_no_columns() -> None:
    index, first = group_tuples(np.empty((0, 2), dtype=np.int32), [3, 3])
    assert (index.tolist(), first.tolist()) == ([], [])
    index, first = group_tuples(np.empty((3, 0), dtype=np.int32), [])
    assert (index.tolist(), first.tolist()) == ([0, 0, 0], [0])


def test_a_tally_of_many_wide_columns_equals_counting_rows() -> None:
    dice = random.Random(1)
    # 12 columns of 200 values each: 200**12 is far beyond 64 bits.
    wide = {f"c{number:02}": [dice.randrange(200) for _ in range(400)] for number in range(12)}
    frame = pl.concat([pl.DataFrame(wide), pl.DataFrame(wide).head(30)])
    table = ic.read(frame, quasi=frame.columns)
    tally = table.engine.count(table.schema).tally
    assert decoded(tally) == Counter(frame.select(sorted(frame.columns)).rows())
    assert list(decoded(tally)) == sorted(decoded(tally))


@pytest.mark.parametrize(("kinds", "each"), [(1, 3000), (40, 75), (2999, 2), (3000, 1)])
def test_many_columns_are_sorted_also_where_the_first_ones_tell_all_rows_apart(kinds: int, each: int) -> None:
    rng = np.random.default_rng(kinds)
    distinct_rows = np.column_stack([rng.permutation(kinds), rng.integers(0, 1000, (kinds, 40))])
    rows = rng.permutation(np.repeat(distinct_rows, each, axis=0))  # with one of each, the first columns are enough
    number, first = group_tuples(rows.astype(np.int32), [kinds, *[1000] * 40])
    distinct = sorted(set(map(tuple, rows.tolist())))
    assert [tuple(row) for row in rows[first].tolist()] == distinct
    assert [distinct[place] for place in number.tolist()] == list(map(tuple, rows.tolist()))

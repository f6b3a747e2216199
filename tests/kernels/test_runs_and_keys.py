"""Rows that are counted run by run, and tuples that are packed into keys."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from incrowd.common.arrays import Codes
from incrowd.common.threads import using
from incrowd.core.tally import group_columns, group_tuples
from incrowd.kernels.keys import codes_met, pack_codes, rank_keys
from incrowd.kernels.run_counts import count_in_runs


@pytest.mark.parametrize(
    ("longest", "rows", "apart"),
    [
        (9, 500, 1),
        (60, 100_000, 1),  # sorted with more than a few at once, and shared by threads
        (40_000, 100_000, 1),  # too long for numbers that hold the place as well
        (9, 500, 1_000_000_000),  # owners too far apart for them
    ],
)
def test_pairs_are_counted_as_a_counter_does(longest: int, rows: int, apart: int) -> None:
    dice = np.random.default_rng(longest)
    cuts = np.unique(np.append(dice.integers(0, rows, 2 * rows // longest), [0, rows]))
    run_of = np.repeat(np.arange(len(cuts) - 1), np.diff(cuts))
    # Each run has two owners, whose rows are mixed.
    owners = (2 * run_of + dice.integers(0, 2, rows)) * apart if apart == 1 else dice.integers(0, 2, rows) * apart
    if apart > 1:
        cuts = np.array([0, rows])
    tuples = dice.integers(0, 70, rows)
    values = dice.permutation(np.append(np.arange(69), 2**31 - 1)).astype(np.int32)
    for counts in (None, dice.integers(1, 2**33, rows)):
        times, expected = np.ones(rows, dtype=np.int64) if counts is None else counts, Counter[tuple[int, int]]()
        shown = values[tuples]
        for one, shows, number in zip(owners.tolist(), shown.tolist(), times.tolist(), strict=True):
            expected[one, shows] += number
        pairs = sorted(expected)
        for threads in (1, 3):
            with using(threads):
                owner, value, number, which = count_in_runs(cuts, tuples, owners, values, counts)
            assert list(zip(owner.tolist(), value.tolist(), strict=True)) == pairs
            assert number.tolist() == [expected[pair] for pair in pairs]
            assert np.array_equal(owner[which], owners)
            assert np.array_equal(value[which], shown)


def test_no_rows_have_no_pairs() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    for starts in ([0], [0, 0], [0, 0, 0]):
        found = count_in_runs(np.array(starts), nothing, nothing, np.zeros(0, dtype=np.int32), None)
        assert [len(array) for array in found] == [0, 0, 0, 0]


@pytest.mark.parametrize("threads", [1, 3])
def test_codes_that_some_rows_have(threads: int) -> None:
    sizes = [1, 90_000, 7, 2]
    codes = _codes(tuple(sizes), 100_000)
    some = np.random.default_rng(4).random(len(codes)) < 0.5
    with using(threads):
        for of_rows in (some, np.ones_like(some), np.zeros_like(some)):
            found = codes_met(codes, of_rows, sizes)
            assert [len(one) for one in found] == sizes
            assert [np.flatnonzero(one).tolist() for one in found] == [
                np.unique(codes[of_rows, place]).tolist() for place in range(4)
            ]
        with pytest.raises(RuntimeError, match="a code has no room"):
            codes_met(codes, some, [1, 90_000, 6, 2])
        assert codes_met(codes[:, :0], some, []) == []


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("sizes", [(), (1,), (0, 3), (7, 1, 900, 30), (2**31 - 1, 2**31 - 1)])
def test_a_packed_key_is_that_of_the_tuple(threads: int, sizes: tuple[int, ...]) -> None:
    codes = _codes(sizes, 70_000)
    expected = np.zeros(len(codes), dtype=np.int64)
    for place, size in enumerate(sizes):
        expected = expected * max(size, 1) + codes[:, place]
    with using(threads):
        assert np.array_equal(pack_codes(codes, np.maximum(np.array(sizes, dtype=np.int64), 1)), expected)


@pytest.mark.parametrize("rows", [1, 16_383, 16_384, 50_000])
@pytest.mark.parametrize("sizes", [(), (3,), (7, 2, 900), (40_000, 40_000, 40_000), (2**31 - 1, 2**31 - 1)])
def test_tuples_are_grouped_as_their_columns_are(rows: int, sizes: tuple[int, ...]) -> None:
    codes = _codes(sizes, rows)
    columns = [codes[:, place] for place in range(len(sizes))]
    for one, other in zip(group_tuples(codes, sizes), group_columns(columns, sizes, rows), strict=True):
        assert np.array_equal(one, other)
    if sizes:
        number, first = group_tuples(codes, sizes)
        distinct, inverse = np.unique(codes, axis=0, return_inverse=True)
        assert np.array_equal(codes[first], distinct)
        assert np.array_equal(number, inverse.ravel())


@pytest.mark.parametrize("number", [0, 1, 2, 7, 500, 150_000])
@pytest.mark.parametrize("room", [1, 3, 40, 500, 150_000, 10**6, 2**40, 2**60])
def test_keys_are_ranked_as_numpy_ranks_them(number: int, room: int) -> None:
    keys = np.random.default_rng(number).integers(0, room, number)
    keys[number // 2 :] = keys[: number - number // 2]  # so that some of the many are equal
    _, first, ranks = np.unique(keys, return_index=True, return_inverse=True)
    for threads in (1, 2, 3):
        with using(threads):
            found = rank_keys(keys, room)
        assert np.array_equal(found[0], ranks)
        assert np.array_equal(found[1], first)


@pytest.mark.parametrize("key", [-1, 3])
def test_a_key_that_has_no_room_is_an_error_and_not_a_place_in_memory(key: int) -> None:
    with pytest.raises(RuntimeError, match="no room"):
        rank_keys(np.array([0, 1, 2, key]), 3)


def _codes(sizes: tuple[int, ...], rows: int) -> Codes:
    dice = np.random.default_rng(len(sizes))
    columns = [dice.integers(0, max(size, 1), rows) for size in sizes]
    return np.ascontiguousarray(np.array(columns, dtype=np.int32).reshape(len(sizes), rows).T)

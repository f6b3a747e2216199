"""Permutation within buckets: nothing is lost, columns are independent, and every order is as likely."""

from __future__ import annotations

from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from incrowd.common.randomness import randomness
from incrowd.common.threads import using
from incrowd.forms.slices.chance import shuffle_within
from incrowd.forms.slices.permutation import permute_columns
from incrowd.forms.slices.slices import Buckets
from incrowd.kernels.slicing_shuffle import shuffle_runs
from tests.forms.slices.slicing_cases import Case, cases


def buckets_of(*sizes: int) -> Buckets:
    rows = np.arange(sum(sizes), dtype=np.int64)
    return Buckets(rows, np.ones_like(rows), np.repeat(np.arange(len(sizes)), sizes))


@given(cases())
def test_every_column_keeps_its_bucket_s_values(case: Case) -> None:
    permuted = permute_columns(np.random.default_rng(0), case.buckets, 3)
    assert permuted.tuples.shape == (3, case.buckets.counts.sum())
    for bucket in range(len(case.buckets)):
        inside = case.buckets.bucket_of == bucket
        members = sorted(np.repeat(case.buckets.tuples[inside], case.buckets.counts[inside]).tolist())
        for column in permuted.tuples:
            assert sorted(column[permuted.bucket_of == bucket].tolist()) == members


def test_every_order_is_as_likely() -> None:
    """A hundred thousand buckets of four: each of the 24 orders is as frequent, and columns are independent."""
    number = 100_000
    permuted = permute_columns(np.random.default_rng(5), buckets_of(*[4] * number), 2)
    orders = permuted.tuples.reshape(2, number, 4) - 4 * np.arange(number)[None, :, None]
    for column in orders:
        digits, counts = np.unique(column @ [1000, 100, 10, 1], return_counts=True)
        assert digits.tolist() == sorted(int("".join(map(str, order))) for order in permutations(range(4)))
        expected = number / 24
        statistic = ((counts - expected) ** 2 / expected).sum()
        assert statistic < 60  # 23 degrees of freedom: exceeded once in 30,000 times
    # If columns are independent, the first value of the one goes with any first value of the other.
    together = np.bincount(4 * orders[0, :, 0] + orders[1, :, 0], minlength=16)
    expected = number / 16
    assert ((together - expected) ** 2 / expected).sum() < 50


def test_the_operating_system_s_chance() -> None:
    buckets = buckets_of(500, 1, 500)
    first, second = (permute_columns(randomness(None), buckets, 1).tuples[0] for _ in range(2))
    assert first.tolist() != second.tolist()
    assert first[500] == second[500] == 500
    assert sorted(first[:500].tolist()) == list(range(500))


def test_one_seed_one_order() -> None:
    buckets = buckets_of(3, 5, 2)
    first, again, other = (permute_columns(randomness(seed), buckets, 2).tuples.tolist() for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_word_that_would_favour_some_is_thrown_away() -> None:
    """The largest word is beyond the last multiple of 3; the spare one after it decides."""
    largest = np.uint64(2**64 - 1)
    items, starts, shuffled = np.arange(3), np.array([0, 3]), np.empty(3, dtype=np.int64)
    words = np.array([0, 1, largest, largest, 5], dtype=np.uint64)
    assert shuffle_runs(items, starts, words, shuffled)
    assert shuffled.tolist() == [0, 1, 2]  # 5 % 3 = 2 and 1 % 2 = 1: all stay
    assert not shuffle_runs(items, starts, words[:4], shuffled)


def test_nothing_to_shuffle() -> None:
    nothing = np.empty(0, dtype=np.int64)
    assert shuffle_within(np.random.default_rng(0), nothing, np.zeros(1, dtype=np.int64)).tolist() == []
    assert permute_columns(np.random.default_rng(0), Buckets(nothing, nothing, nothing), 2).tuples.shape == (2, 0)


def test_short_words_are_thrown_away_as_well() -> None:
    """Of 16 bits, 65,535 is the one word that would favour a choice of three; of two, none is."""
    words = np.array([0, 0, 65_535, 2, 7], dtype=np.uint16)
    items, shuffled = np.arange(3), np.empty(3, dtype=np.int64)
    assert shuffle_runs(items, np.array([0, 3]), words, shuffled)
    assert shuffled.tolist() == [1, 0, 2]  # the spare word 2 leaves the last in its place
    assert not shuffle_runs(items, np.array([0, 3]), words[:3], shuffled)
    assert shuffle_runs(items[:2], np.array([0, 2]), words[1:3], shuffled[:2])


@pytest.mark.parametrize("word", [np.uint16, np.uint32, np.uint64])
@pytest.mark.parametrize(("most", "longest"), [(200, 256), (60_000, 70_000)])
def test_threads_shuffle_as_the_book_says(word: type[np.unsignedinteger[Any]], most: int, longest: int) -> None:
    """Fisher and Yates, run by run, with many words that have to be thrown away, and replaced in the order of runs."""
    dice = np.random.default_rng(longest)
    starts = np.unique(np.append(dice.integers(0, 150_000, 150_000 // most), [0, longest, 150_000]))
    if word is np.uint16:
        starts = starts[:-1] if most == 200 else np.array([0, 65_000, 150_000 - 65_000, 150_000])
    largest = int(np.iinfo(word).max)
    words = dice.integers(0, largest, 200_000 + int(starts[-1]), dtype=word)
    words[dice.integers(0, len(words), len(words) // 50)] = largest
    items = dice.integers(0, 2**40, int(starts[-1]))
    expected, spare = items.tolist(), iter(words[len(items) :].tolist())
    for first, end in pairwise(starts.tolist()):
        for last in range(end - 1, first, -1):
            choices, chosen = last - first + 1, int(words[last])
            while chosen >= (largest + 1) // choices * choices:
                chosen = next(spare)
            other = first + chosen % choices
            expected[last], expected[other] = expected[other], expected[last]
    for number in (1, 3):
        shuffled = np.empty_like(items)
        with using(number):
            assert shuffle_runs(items, starts, words, shuffled)
        assert shuffled.tolist() == expected


def test_groups_of_all_sizes_are_shuffled_evenly() -> None:
    """Words of 16 bits and of 32: where the last of a large group goes is spread evenly."""
    for size in (200, 300):
        items = np.arange(size, dtype=np.int64)
        starts = np.array([0, size])
        rng = np.random.default_rng(size)
        places = [int(np.flatnonzero(shuffle_within(rng, items, starts) == size - 1)[0]) for _ in range(400)]
        assert abs(np.mean(places) / (size - 1) - 0.5) < 0.06  # four standard errors

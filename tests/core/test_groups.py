"""Groups and their histograms: the same as counting by hand, and counted only when somebody asks."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.groups import Groups, Histogram, LazyHistograms, histogram

Entry = tuple[int, int, int]
"""A group, a code, and how many rows have both."""


def entries(found: Histogram) -> list[dict[int, int]]:
    """Return each group's counts by code, as plain values."""
    codes, counts = found.values.tolist(), found.counts.tolist()
    return [
        dict(zip(codes[first:last], counts[first:last], strict=True))
        for first, last in zip(found.offsets[:-1].tolist(), found.offsets[1:].tolist(), strict=True)
    ]


def count(listed: list[Entry], groups: int) -> Histogram:
    group_of, codes, counts = (np.array(column) for column in zip(*listed, strict=True))
    return histogram(group_of.astype(np.int64), codes.astype(np.int32), counts.astype(np.int64), groups)


def test_histogram_by_hand() -> None:
    found = count([(0, 2, 3), (1, 0, 1), (0, 5, 1), (0, 2, 4), (2, 5, 2)], groups=3)
    assert entries(found) == [{2: 7, 5: 1}, {0: 1}, {5: 2}]
    assert found.distinct.tolist() == [2, 1, 1]
    assert found.largest.tolist() == [7, 1, 2]
    assert found.group_of.tolist() == [0, 0, 1, 2]


def test_a_group_without_members_has_no_entries() -> None:
    found = count([(0, 1, 3), (3, 1, 2)], groups=5)
    assert entries(found) == [{1: 3}, {}, {}, {1: 2}, {}]
    assert found.distinct.tolist() == [1, 0, 0, 1, 0]
    assert found.largest.tolist() == [3, 0, 0, 2, 0]


def test_counts_of_billions_are_exact() -> None:
    # Sums go through floats, which are exact up to 2**53.
    many = 2**52
    assert entries(count([(0, 1, many), (0, 1, 1), (0, 2, many - 1)], groups=1)) == [{1: many + 1, 2: many - 1}]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6), st.integers(1, 9)), min_size=1, max_size=40))
def test_histogram_equals_counting(listed: list[Entry]) -> None:
    expected = [Counter[int]() for _ in range(5)]
    for group, code, rows in listed:
        expected[group][code] += rows
    found = count(listed, groups=5)
    assert entries(found) == [dict(counted) for counted in expected]
    assert found.distinct.tolist() == [len(counted) for counted in expected]
    assert found.largest.tolist() == [max(counted.values(), default=0) for counted in expected]


def test_histograms_are_counted_once_and_only_when_asked_for() -> None:
    asked: list[str] = []

    def counting(name: str) -> Histogram:
        asked.append(name)
        return count([(0, 1, 2)], groups=1)

    lazy = LazyHistograms(("flu", "pay"), counting)
    groups = Groups(np.array([2]), lazy)
    assert ic.KAnonymity(2).satisfied(groups).all()
    assert (len(lazy), list(lazy), asked) == (2, ["flu", "pay"], [])
    assert ic.LDiversity(1, column="pay").satisfied(groups).all()
    assert ic.LDiversity(1, column="pay").satisfied(groups).all()
    assert asked == ["pay"]
    with pytest.raises(KeyError):
        lazy["age"]


def test_shares_are_of_the_whole_table_where_it_is_known() -> None:
    found = count([(0, 1, 3), (1, 2, 1)], groups=2)
    assert Groups(np.array([3, 1]), {"s": found}).shares("s").tolist() == [0, 0.75, 0.25]
    whole = {"s": np.array([4, 3, 1])}
    assert Groups(np.array([3, 1]), {"s": found}, whole).shares("s").tolist() == [0.5, 0.375, 0.125]


def test_a_group_of_many_values_is_counted_as_one_of_few() -> None:
    """Long runs are sorted in another way than short ones."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 200, 3_000)
    listed = [
        (int(code % 2), int(code), int(count)) for code, count in zip(codes, rng.integers(1, 9, 3_000), strict=True)
    ]
    expected: Counter[tuple[int, int]] = Counter()
    for group, code, rows in listed:
        expected[group, code] += rows
    found = count(listed, groups=2)
    assert entries(found) == [
        {code: expected[group, code] for code in sorted(range(group, 200, 2)) if (group, code) in expected}
        for group in range(2)
    ]
    assert found.values[: found.offsets[1]].tolist() == sorted(found.values[: found.offsets[1]].tolist())


def test_the_largest_count_where_groups_are_empty() -> None:
    assert count([(1, 4, 3), (1, 2, 5), (3, 0, 1)], groups=5).largest.tolist() == [0, 5, 0, 1, 0]
    nothing = np.empty(0, dtype=np.int64)
    assert histogram(nothing, nothing.astype(np.int32), nothing, 2).largest.tolist() == [0, 0]

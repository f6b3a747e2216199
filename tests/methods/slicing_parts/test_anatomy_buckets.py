"""Anatomy: what every group holds, who is left over, and when there is no such grouping."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import incrowd as ic
from incrowd.errors import RecipeError, Unsatisfiable
from incrowd.forms.slices.diversity import guess
from incrowd.forms.slices.slices import Buckets, slice_tally
from incrowd.methods.slicing_parts.anatomy_buckets import deal_anatomy
from tests.forms.slices.slicing_cases import tally_of


def dealt(codes: list[int], counts: list[int], l: int, seed: int = 0) -> Buckets:
    rng = np.random.default_rng(seed)
    return deal_anatomy(rng, np.array(codes, dtype=np.int32), np.array(counts, dtype=np.int64), l)


def values_in(buckets: Buckets, codes: list[int]) -> list[Counter[int]]:
    found: list[Counter[int]] = [Counter() for _ in range(len(buckets))]
    for place, count, bucket in zip(buckets.tuples, buckets.counts, buckets.bucket_of, strict=True):
        found[bucket][codes[place]] += int(count)
    return found


@st.composite
def eligible(draw: st.DrawFn) -> tuple[list[int], list[int], int]:
    """Draw tuples, counts and an ℓ that is possible, often the largest."""
    l = draw(st.integers(1, 6))
    codes = draw(st.lists(st.integers(0, 9), min_size=1, max_size=20))
    counts = draw(st.lists(st.integers(1, 12), min_size=len(codes), max_size=len(codes)))
    totals = Counter[int]()
    for code, count in zip(codes, counts, strict=True):
        totals[code] += count
    possible = totals.total() // max(totals.values())
    assume(possible >= 1)
    return codes, counts, draw(st.sampled_from([possible, min(l, possible)]))


@given(eligible(), st.integers(0, 3))
def test_groups_hold_l_values_once_each(table: tuple[list[int], list[int], int], seed: int) -> None:
    codes, counts, l = table
    buckets = dealt(codes, counts, l, seed)
    groups = values_in(buckets, codes)
    rows = sum(counts)
    assert len(groups) == rows // l
    assert all(set(group.values()) == {1} for group in groups)
    assert all(group.total() >= l for group in groups)
    assert sum(group.total() - l for group in groups) == rows % l
    assert np.bincount(buckets.tuples, weights=buckets.counts, minlength=len(codes)).tolist() == counts


def test_a_value_of_one_in_l_is_in_every_group() -> None:
    codes, counts = [0, 1, 2, 3], [4, 3, 3, 2]
    assert all(0 in group for group in values_in(dealt(codes, counts, 3), codes))


def test_the_error_names_the_largest_l_and_no_value() -> None:
    with pytest.raises(Unsatisfiable, match=r"largest l that is possible is 2\.") as error:
        dealt([77_001, 77_002, 77_003], [5, 4, 3], 3)
    assert "77" not in str(error.value)
    dealt([77_001, 77_002, 77_003], [5, 4, 3], 2)


@pytest.mark.parametrize("l", [0, -1, 2.5, True])
def test_l_is_a_whole_number(l: float) -> None:
    with pytest.raises(RecipeError, match="l is a whole number"):
        dealt([0, 1], [1, 1], l)  # type: ignore[arg-type]


def test_no_rows() -> None:
    assert len(dealt([], [], 3)) == 0


def test_one_group_of_everybody() -> None:
    assert dealt([3, 1, 2], [1, 1, 1], 3).bucket_of.tolist() == [0, 0, 0]


def test_one_row_per_group_at_l_1() -> None:
    assert sorted(dealt([0, 0, 1], [2, 1, 1], 1).bucket_of.tolist()) == [0, 1, 2, 3]


def test_the_same_seed_deals_the_same_and_another_seed_does_not() -> None:
    codes, counts = list(range(10)) * 5, [3] * 50
    first, again, other = (dealt(codes, counts, 5, seed) for seed in (1, 1, 2))
    assert first.tuples.tolist() == again.tuples.tolist()
    assert first.bucket_of.tolist() == again.bucket_of.tolist()
    assert first.tuples.tolist() != other.tuples.tolist()


def test_any_of_the_rows_with_a_value_may_be_in_a_group() -> None:
    """Two rows of value 0 and two of value 1 make two groups; all pairings are as frequent."""
    pairings = Counter[tuple[int, int]]()
    for seed in range(2000):
        buckets = dealt([0, 0, 1, 1], [1, 1, 1, 1], 2, seed)
        pairings[tuple(sorted(buckets.tuples[buckets.bucket_of == buckets.bucket_of[0]].tolist()))] += 1
    partner = Counter[int]()
    for (first, second), count in pairings.items():
        partner[second if first == 0 else 5 - second] += count
    assert set(partner) == {2, 3}
    assert abs(partner[2] - 1000) < 5 * np.sqrt(500)


def test_any_group_without_the_value_may_take_the_row_left_over() -> None:
    """Five values of two rows each, ℓ = 3: a row of value 0 is left over, and two of the three groups lack it."""
    taken = Counter[int]()
    for seed in range(600):
        buckets = dealt([0, 1, 2, 3, 4], [2, 2, 2, 2, 2], 3, seed)
        taken[int(np.argmax(buckets.sizes))] += 1
    assert len(taken) == 2
    assert all(abs(count - 300) < 5 * np.sqrt(150) for count in taken.values())


def test_bucketized_census() -> None:
    people = ic.datasets.census(20_000)
    tally = tally_of(people.drop("salary"), ["occupation"])
    buckets = dealt(tally.column("occupation").tolist(), tally.counts.tolist(), 10)
    quasi = [name for name in tally.columns if name != "occupation"]
    slices = slice_tally(tally, [quasi, ["occupation"]], ["occupation"])
    found = guess(slices, buckets, 10)
    assert found.diverse
    assert found.worst == 0.1
    assert set(buckets.sizes.tolist()) <= {10, 11}

"""Sets of items as arrays: what goes in comes out, whatever the order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.core.item_sets import ItemSets
from incrowd.core.set_recoding import SetRecoding
from tests.naive_sets import as_people, as_sets, nodes_of, people_strategy


@given(people_strategy(values=3), st.booleans())
def test_people_come_back(people, sensitive):
    sets, entry = as_sets(people, sensitive=sensitive)
    told = people if sensitive else [(items, 0) for items, _ in people]
    assert sorted(as_people(sets), key=repr) == sorted(told, key=repr)
    assert len(set(as_people(sets))) == len(sets)
    assert sets.people == len(people)
    assert sets.occurrences == sum(len(items) for items, _ in people)
    for number, (items, _) in enumerate(people):
        one = int(entry[number])
        assert set(sets.items[sets.offsets[one] : sets.offsets[one + 1]].tolist()) == items


@given(people_strategy(values=2), st.randoms(use_true_random=False))
def test_the_order_of_people_changes_nothing(people, random):
    shuffled = list(people)
    random.shuffle(shuffled)
    one, other = as_sets(people, sensitive=True)[0], as_sets(shuffled, sensitive=True)[0]
    for name in ("offsets", "items", "counts", "sensitive"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_missing_and_repeated_items_are_left_out():
    sets, _ = ItemSets.from_pairs(np.array([0, 0, 0, 1]), np.array([2, 0, 2, 0], dtype=np.int32), people=3)
    assert as_people(sets).count((frozenset({2}), 0)) == 1
    assert as_people(sets).count((frozenset(), 0)) == 2


def test_people_of_different_parts_are_kept_apart():
    sets, entry = ItemSets.from_pairs(np.array([0, 1, 2]), np.array([1, 1, 1]), parts=np.array([0, 1, 1]))
    assert sets.counts[entry].tolist() == [1, 2, 2]
    assert sets.parts[entry].tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    "given_too_few",
    [{"people": 1}, {"sensitive": np.zeros(1, np.int32)}, {"people": 3, "parts": np.zeros(2, np.int64)}],
    ids=["people", "sensitive values", "parts"],
)
def test_arrays_that_do_not_agree_are_refused(given_too_few):
    with pytest.raises(ValueError, match="numbered from 0"):
        ItemSets.from_pairs(np.array([0, 1]), np.array([1, 1]), **given_too_few)


def test_taking_sets():
    sets, _ = as_sets([(frozenset({1, 2}), 0), (frozenset(), 0), (frozenset({3}), 0)])
    long = sets.take(sets.lengths > 1)
    assert as_people(long) == [(frozenset({1, 2}), 0)]
    assert as_people(sets.take(np.array([], dtype=np.int64))) == []


def test_what_sets_show():
    nodes = nodes_of("two levels")  # 9 is {4, 5}, 10 is {1, 2, 3}, 11 is {6, 7, 8}, 12 is the root
    sets, _ = as_sets([(frozenset({1, 2, 4}), 0), (frozenset({4}), 0), (frozenset({6, 1}), 0)])
    of_item = np.array([0, 10, 10, 10, 4, 5, 0, 0, 0], dtype=np.int32)
    recoding = SetRecoding.everywhere(sets, of_item)
    shown = {items for items, _ in as_people(recoding.published(sets))}
    assert shown == {frozenset({10, 4}), frozenset({4}), frozenset({10})}
    # Items 1, 2 and 1 are shown as a node that holds 3 of 8 items; item 6 is not shown; item 4 is, twice.
    assert recoding.loss(sets, nodes) == pytest.approx((3 * 3 / 8 + 1) / 6)
    assert recoding.suppressed(sets) == 1

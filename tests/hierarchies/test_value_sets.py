"""Sets of values with codes of their own: numbered and unfolded as plain Python does it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from incrowd.hierarchies.value_sets import ValueSets, number_sets

SIZE = 6
sets = st.lists(st.frozensets(st.integers(0, SIZE - 1), min_size=1, max_size=SIZE), max_size=12)


def pairs(found: list[frozenset[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return owners and codes, sorted by both."""
    listed = sorted((owner, code) for owner, codes in enumerate(found) for code in codes)
    owner, codes = [owner for owner, _ in listed], [code for _, code in listed]
    return np.array(owner, dtype=np.int64), np.array(codes, dtype=np.int32)


def as_lists(found: ValueSets) -> list[list[int]]:
    return [found.codes[found.offsets[i] : found.offsets[i + 1]].tolist() for i in range(len(found))]


@given(sets)
def test_equal_sets_and_no_others_have_one_number(found: list[frozenset[int]]) -> None:
    number, numbered = number_sets(*pairs(found), SIZE)
    assert len(number) == len(found)
    listed = as_lists(numbered)
    assert [frozenset(listed[one]) for one in number] == found
    assert all(codes == sorted(set(codes)) for codes in listed)
    assert len(listed) == len(set(found))


@given(sets, st.randoms(use_true_random=False))
def test_numbers_depend_on_the_sets_alone(found: list[frozenset[int]], chance) -> None:
    shuffled = list(found)
    chance.shuffle(shuffled)
    once, again = number_sets(*pairs(found), SIZE), number_sets(*pairs(shuffled), SIZE)
    assert as_lists(once[1]) == as_lists(again[1])
    # Those whom nobody resembles change nothing of how the others are numbered among themselves.
    assert dict(zip(found, once[0].tolist(), strict=True)) == dict(zip(shuffled, again[0].tolist(), strict=True))


@given(sets.filter(len), st.data())
def test_unfolding_gives_each_value_with_its_place(found: list[frozenset[int]], data: st.DataObject) -> None:
    _, numbered = number_sets(*pairs(found), SIZE)
    listed = as_lists(numbered)
    codes = data.draw(st.lists(st.integers(0, SIZE - 1 + len(listed)), max_size=20))
    place, single = numbered.unfold(np.array(codes, dtype=np.int32), SIZE)
    expected = [
        (at, value) for at, code in enumerate(codes) for value in ([code] if code < SIZE else listed[code - SIZE])
    ]
    assert list(zip(place.tolist(), single.tolist(), strict=True)) == expected
    assert single.dtype == np.int32


def test_long_sets_of_large_codes() -> None:
    size = 2**20
    long = [frozenset(range(0, size, 4096)), frozenset(range(0, size, 4096)) | {1}, frozenset({size - 1})]
    number, numbered = number_sets(*pairs(long), size)
    listed = as_lists(numbered)
    assert [frozenset(listed[one]) for one in number] == long

"""Numbers for what is equal, against NumPy's own."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.common.keys import number_keys, numbers_to_add


@pytest.mark.parametrize(("number", "room"), [(0, 1), (1, 1), (7, 3), (500, 500), (500, 40), (500, 10**6), (90, 2**60)])
def test_keys_are_numbered_in_order_with_the_first_place_of_each(number: int, room: int) -> None:
    key = np.random.default_rng(number).integers(0, room, number)
    _, first, index = np.unique(key, return_index=True, return_inverse=True)
    found = number_keys(key, room)
    assert np.array_equal(found[0], index)
    assert np.array_equal(found[1], first)


def test_other_combinations_have_other_sums() -> None:
    numbers = numbers_to_add([3, 4, 2])
    sums = [sum(int(one[code]) for one, code in zip(numbers, codes, strict=True)) for codes in np.ndindex(3, 4, 2)]
    assert sorted(sums) == list(range(24))
    assert numbers_to_add([]) == []


def test_with_more_combinations_than_numbers_sums_are_still_different() -> None:
    """By chance, and the same in every run."""
    numbers = numbers_to_add([4] * 40)
    codes = np.unique(np.random.default_rng(1).integers(0, 4, (2000, 40)), axis=0)
    sums = np.sum([one[column] for one, column in zip(numbers, codes.T, strict=True)], axis=0)
    assert len(np.unique(sums)) == len(codes)
    again = numbers_to_add([4] * 40)
    assert all(np.array_equal(one, other) for one, other in zip(numbers, again, strict=True))

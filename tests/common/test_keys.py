"""Numbers that are added up to keys."""

from __future__ import annotations

import numpy as np

from incrowd.common.keys import numbers_to_add


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

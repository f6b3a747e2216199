"""Numbers for what is equal: distinct keys in sorted order, by a table of them or by one fast sort."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

_ANY_NUMBER, _MOST_NUMBERS = 2001, 2**62


def numbers_to_add(sizes: Sequence[int]) -> list[NDArray[np.int64]]:
    """Return a number for each code of some columns of these sizes: other combinations of codes have other sums.

    Where there are more combinations than numbers, the numbers are random, and two combinations have the same sum with
    a chance of 2⁻⁶⁴: enough for a search, and not for what is published.
    """
    if math.prod(map(int, sizes)) <= _MOST_NUMBERS:
        rooms = accumulate(sizes, operator.mul, initial=1)
        return [np.arange(size, dtype=np.int64) * room for size, room in zip(sizes, rooms, strict=False)]
    chance = np.random.default_rng(_ANY_NUMBER)
    return [chance.integers(-(2**63), 2**63, size=size) for size in sizes]


def number_keys(key: NDArray[np.int64], room: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number distinct keys below `room` in sorted order; return each one's number and the first place of each."""
    if room <= len(key):
        return _by_looking_up(key, room)
    bits = max(len(key) - 1, 0).bit_length()
    if room << bits >= 2**63:
        _, first, index = np.unique(key, return_index=True, return_inverse=True)
        return index, first
    # Key and place in one number: sorting values is several times faster than sorting places by their keys.
    ordered = np.sort((key << bits) | np.arange(len(key)))
    place = ordered & ((1 << bits) - 1)
    ordered >>= bits
    new = np.ones(len(key), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    index = np.empty(len(key), dtype=np.int64)
    index[place] = np.cumsum(new) - 1
    return index, place[new]


def _by_looking_up(key: NDArray[np.int64], room: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Do the same by a table of all possible keys, which is no longer than they are: there is nothing to sort."""
    first = np.full(room, -1)
    first[key[::-1]] = np.arange(len(key) - 1, -1, -1)  # of several places, the last that is written stays
    occurs = first >= 0
    return (np.cumsum(occurs) - 1)[key], first[occurs]

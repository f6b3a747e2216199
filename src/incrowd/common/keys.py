"""Numbers that are added up to a key for each combination of codes."""

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

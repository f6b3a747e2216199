"""Numbers for what is equal, against NumPy's own."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.common.keys import number_keys


@pytest.mark.parametrize(("number", "room"), [(0, 1), (1, 1), (7, 3), (500, 500), (500, 40), (500, 10**6), (90, 2**60)])
def test_keys_are_numbered_in_order_with_the_first_place_of_each(number: int, room: int) -> None:
    key = np.random.default_rng(number).integers(0, room, number)
    _, first, index = np.unique(key, return_index=True, return_inverse=True)
    found = number_keys(key, room)
    assert np.array_equal(found[0], index)
    assert np.array_equal(found[1], first)

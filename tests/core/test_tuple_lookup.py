"""Tuples are found exactly where they are, also where they do not fit one number."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.core.tuple_lookup import TupleLookup


@pytest.mark.parametrize("sizes", [[3], [3, 4], [2**30] * 3, [2**31 - 1] * 5, [1, 1]], ids=str)
@pytest.mark.parametrize("rows", [0, 1, 200])
def test_what_is_there_is_found_and_nothing_else(sizes: list[int], rows: int) -> None:
    dice = np.random.default_rng(rows)
    known, asked = (
        np.stack([dice.integers(0, min(size, 6), number) * max(size // 7, 1) % size for size in sizes], axis=1)
        for number in (rows, 300)
    )
    there = set(map(tuple, known.tolist()))
    found = TupleLookup.of(known.astype(np.int32), sizes).has(asked.astype(np.int32))
    assert found.tolist() == [tuple(row) in there for row in asked.tolist()]

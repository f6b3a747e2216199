"""Places of arrays that threads look up."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.common.taking import take_rows, take_together
from incrowd.common.threads import using


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("number", [0, 1, 10, 200_000])
def test_rows_are_those_that_indexing_gives(number: int, threads: int) -> None:
    dice = np.random.default_rng(number)
    table, line, places = dice.integers(0, 9, (50, 3)).astype(np.int32), dice.random(50), dice.integers(0, 50, number)
    with using(threads):
        rows = take_rows(table, places)
        together = take_together([table, line], places)
    assert np.array_equal(rows, table[places])
    assert rows.dtype == table.dtype
    assert np.array_equal(together[0], table[places])
    assert np.array_equal(together[1], line[places])


@pytest.mark.parametrize("threads", [1, 3])
def test_a_place_that_is_not_there_is_an_error(threads: int) -> None:
    places = np.zeros(200_000, dtype=np.int64)
    places[150_000] = 50
    with using(threads), pytest.raises(IndexError):
        take_rows(np.arange(50), places)

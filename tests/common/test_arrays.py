"""Tables from columns and back, also where they are longer than what is copied at once."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from incrowd.common.arrays import all_places, one_by_one, side_by_side


@pytest.mark.parametrize("rows", [0, 1, 4095, 4096, 4097, 9000])
@pytest.mark.parametrize("columns", [0, 1, 3])
def test_columns_make_a_table_and_the_other_way_round(rows: int, columns: int) -> None:
    table = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    made = side_by_side([table[:, place].astype(np.int64) for place in range(columns)], rows)
    np.testing.assert_array_equal(made, table, strict=True)
    assert made.flags.c_contiguous
    found = one_by_one(table)
    assert len(found) == columns
    for place, column in enumerate(found):
        np.testing.assert_array_equal(column, table[:, place], strict=True)
        assert column.flags.c_contiguous


@pytest.mark.parametrize("sizes", [(), (3,), (2, 3), (1, 4, 1, 2), (3, 0, 2), (1,) * 70 + (2, 3)])
def test_all_places_are_those_of_nested_loops(sizes: tuple[int, ...]) -> None:
    expected = np.array(list(product(*map(range, sizes))), dtype=np.int64).reshape(math.prod(sizes), len(sizes))
    assert [column.tolist() for column in all_places(sizes)] == expected.T.tolist()

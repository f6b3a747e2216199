"""Wide cells: runs of neighbours, large ones alone; and counts that sum up to a total."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.dp.marginals.cells import Column, WideCells, not_negative, share_out, total_rows


def column(noisy: list[int], variance: float = 1.0) -> Column:
    return Column("c", np.arange(len(noisy)), np.array(noisy, dtype=np.int64)[:, None], variance)


@pytest.mark.parametrize(
    ("noisy", "most", "wide"),
    [
        ([10, 10, 10, 10], 4, [0, 1, 2, 3]),
        ([10, 10, 10, 10], 2, [0, 0, 1, 1]),
        ([10, 10, 10, 10], 1000, [0, 1, 2, 3]),
        ([1, 1, 96, 1, 1], 4, [0, 0, 1, 2, 2]),  # a large one is alone, and what is around it stays apart
        ([0, 0, 0], 5, [0, 0, 0]),
        ([-5, 40, -5], 2, [0, 1, 2]),
        ([7], 2, [0]),
    ],
)
def test_by_hand(noisy: list[int], most: float, wide: list[int]) -> None:
    rows = np.array([float(max(sum(noisy), 0))])
    assert WideCells.of(column(noisy), rows, most).wide_of.tolist() == wide


@given(st.lists(st.integers(-20, 200), min_size=1, max_size=40), st.floats(2, 100))
def test_wide_cells_are_runs_that_are_not_too_large_unless_alone(noisy: list[int], most: float) -> None:
    rows = np.array([float(max(sum(noisy), 0))])
    cells = WideCells.of(column(noisy, 2.0), rows, most)
    assert set(np.diff(cells.wide_of)) <= {0, 1}
    assert len(cells) <= 3 * most + 1
    shared = share_out(np.array(noisy, dtype=float)[:, None], rows)[:, 0]
    for place in range(len(cells)):
        inside = np.flatnonzero(cells.wide_of == place)
        assert len(inside) == 1 or shared[inside].sum() <= 2 * max(rows[0], 1) / most + 1e-6
        assert cells.noisy[place, 0] == sum(noisy[cell] for cell in inside)
        assert cells.variances[place] == 2.0 * len(inside)


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=20), st.integers(-10, 500))
def test_what_is_shared_out_is_the_total(noisy: list[int], total: int) -> None:
    shared = share_out(np.array(noisy, dtype=float)[:, None], np.array([float(total)]))[:, 0]
    assert (shared >= 0).all()
    assert shared.sum() == pytest.approx(max(total, 0), abs=1e-6)
    moved = (shared - noisy)[shared > 0]
    assert np.ptp(moved) < 1e-6 if moved.size else True  # all that are left were moved alike


def test_the_total_listens_to_columns_with_fewer_cells() -> None:
    assert total_rows([column([100]), column([40, 40, 40, 0])])[0] == pytest.approx((100 * 4 + 120) / 5)
    assert total_rows([column([5], 0.0), column([2, 3], 0.0)])[0] == pytest.approx(5)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [([5.0, 3.0], [5, 3]), ([10.0, -4.0], [6, 0]), ([8.0, 4.0, -6.0], [5, 1, 0]), ([-3.0, 1.0], [0, 0]), ([-2.0], [0])],
)
def test_rows_by_class_are_not_negative_and_not_more_than_all(rows: list[float], expected: list[float]) -> None:
    assert not_negative(np.array(rows)).tolist() == pytest.approx(expected)

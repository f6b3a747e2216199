"""Boxes by the runs that they have in some columns, against a loop over boxes."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import numpy as np
import pytest

from incrowd.dp.boxes import box_runs
from incrowd.dp.boxes.box_runs import BoxRuns, ColumnRuns

COLUMNS, CLASSES = 4, 3


def boxes_of(rng: np.random.Generator, number: int) -> tuple[np.ndarray, np.ndarray, BoxRuns]:
    lows = rng.integers(0, 3, (number, COLUMNS)).astype(np.int32)
    highs = (lows + rng.integers(1, 4, (number, COLUMNS))).astype(np.int32)
    return lows, highs, BoxRuns(BoxRuns.of_boxes(lows, highs), rng.random((number, CLASSES)))


@pytest.mark.parametrize("number", [1, 2, 60])
@pytest.mark.parametrize("kept", [0, 500])
def test_rows_of_boxes_with_the_same_runs_are_added_up(number: int, kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(box_runs, "_MOST_KEPT", kept)
    lows, highs, boxes = boxes_of(np.random.default_rng(number), number)
    for size in range(COLUMNS + 1):
        for columns in combinations(reversed(range(COLUMNS)), size):
            expected: dict[tuple[tuple[int, int], ...], np.ndarray] = defaultdict(lambda: np.zeros(CLASSES))
            for low, high, rows in zip(lows, highs, boxes.rows, strict=True):
                expected[tuple((int(low[j]), int(high[j])) for j in columns)] += rows
            for classes in (True, False, True):  # the last time, what was kept is returned
                lines, rows = boxes.together(columns, classes=classes)
                assert len(lines) == len(rows) == len(expected)
                for line, found in zip(lines, rows, strict=True):
                    runs = [boxes.columns[j] for j in columns]
                    named = tuple(
                        (int(one.lows[place]), int(one.highs[place])) for one, place in zip(runs, line, strict=True)
                    )
                    there = expected[named] if classes else [expected[named].sum()]
                    np.testing.assert_allclose(found, there, rtol=1e-12)


def test_a_run_holds_the_codes_from_its_low_to_before_its_high() -> None:
    runs = ColumnRuns.of(np.array([0, 2, 0], dtype=np.int32), np.array([2, 3, 2], dtype=np.int32))
    assert len(runs) == 2
    amounts = np.array([1.0, 3.0, 8.0])
    assert runs.inside(amounts)[runs.of_box].tolist() == [4.0, 8.0, 4.0]
    assert runs.spread(np.array([4.0, 5.0, 8.0]), amounts).tolist() == [3.0, 9.0, 5.0]

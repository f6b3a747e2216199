"""Loops that methods go by, each against plain Python or NumPy, with rows enough for several threads."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from incrowd.common.threads import using
from incrowd.kernels.climbing import Steps, add_up_climbed, climb, number_rows

ROWS, TIMES = 5000, 14
THREADS = (1, 2, 5)


@cache
def climbing(by_loss: bool) -> dict[str, Any]:
    """Rows, where they are, and where plain Python says that each climbs, once for any number of threads.

    Losses are few whole numbers, so that many columns tie: the first of them is climbed.
    """
    rng = np.random.default_rng(7)
    sizes, heights = [3, 4, 2], [2, 1, 3]
    places = [size * (height + 1) for size, height in zip(sizes, heights, strict=True)]
    above = np.concatenate(
        [np.repeat([*range(1, height + 1), -1], size) for size, height in zip(sizes, heights, strict=True)]
    ).astype(np.int32)
    steps = Steps(
        offsets=np.cumsum([0, *places])[:-1],
        sizes=np.array(sizes),
        above=above,
        node=rng.integers(0, 99, sum(places)).astype(np.int32),
        loss=rng.integers(0, 3, sum(places)).astype(float),
        climbed=rng.random(sum(places)),
        left=rng.integers(0, 3, sum(heights) + 3).astype(float),
        left_offsets=np.cumsum([0, *(height + 1 for height in heights)])[:-1],
    )
    codes = np.stack([rng.integers(0, size, ROWS) for size in sizes], axis=1).astype(np.int32)
    levels = np.stack([rng.integers(0, height + 1, ROWS) for height in heights], axis=1).astype(np.int32)
    nodes = np.zeros_like(levels)
    chosen = np.flatnonzero(rng.random(ROWS) < 0.9)
    expected, expected_nodes, stuck = levels.copy(), nodes.copy(), np.zeros(ROWS, dtype=bool)
    for row in chosen.tolist():
        worth: dict[int, float] = {}
        for at in range(3):
            place = int(steps.offsets[at]) + int(levels[row, at]) * sizes[at] + int(codes[row, at])
            if above[place] >= 0:
                following = int(steps.offsets[at]) + int(above[place]) * sizes[at] + int(codes[row, at])
                by_level = steps.left[steps.left_offsets[at] + levels[row, at]]
                worth[at] = float(steps.loss[place] - steps.loss[following] if by_loss else by_level)
        stuck[row] = not worth
        if worth:
            best = min(worth, key=lambda at: (-worth[at], at))
            expected[row, best] += 1
            place = int(steps.offsets[best]) + int(expected[row, best]) * sizes[best] + int(codes[row, best])
            expected_nodes[row, best] = steps.node[place]
    return {
        "steps": steps, "codes": codes, "levels": levels, "chosen": chosen,
        "climbed": expected, "nodes": expected_nodes, "stuck": stuck,
    }  # fmt: skip


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("by_loss", [True, False])
def test_each_row_climbs_where_plain_python_says(threads: int, by_loss: bool) -> None:
    """The rows are there so often that threads share them; each climbs by itself."""
    known = climbing(by_loss)
    steps = known["steps"]
    codes, levels = np.tile(known["codes"], (TIMES, 1)), np.tile(known["levels"], (TIMES, 1))
    chosen = np.concatenate([known["chosen"] + ROWS * time for time in range(TIMES)])
    nodes = np.zeros_like(levels)
    with using(threads):
        at_top = climb(codes, levels, nodes, chosen, steps, by_loss=by_loss)
        climbed = add_up_climbed(codes, levels, steps)
    assert np.array_equal(at_top, np.tile(known["stuck"], TIMES))
    assert np.array_equal(levels, np.tile(known["climbed"], (TIMES, 1)))
    assert np.array_equal(nodes, np.tile(known["nodes"], (TIMES, 1)))
    where = steps.offsets + levels * steps.sizes + codes
    np.testing.assert_allclose(climbed, steps.climbed[where].sum(axis=1), rtol=1e-12)


@cache
def met_rows(values: int) -> tuple[Any, Any, list[int]]:
    """Rows in two parts, more than one thread looks at, and when each was first met, by a dictionary."""
    rng = np.random.default_rng(8)
    one = rng.integers(0, 6, (TIMES * ROWS, 5)).astype(np.int32)
    other = rng.integers(0, 2, (TIMES * ROWS, values)).astype(np.int32)
    met: dict[tuple[int, ...], int] = {}
    return one, other, [met.setdefault(tuple(row), len(met)) for row in np.hstack([one, other]).tolist()]


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("values", [0, 2])
def test_rows_are_numbered_as_they_are_first_met(threads: int, values: int) -> None:
    one, other, expected = met_rows(values)
    with using(threads):
        numbers, distinct = number_rows(one, other)
    assert np.array_equal(numbers, expected)
    assert distinct == max(expected) + 1

"""Conditional draws: the right odds, and never a value of a neighbour's."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.datasets._draws import ConditionalDraw


def test_frequencies_follow_the_weights_of_the_condition() -> None:
    weights = np.array([[1.0, 3.0, 0.0], [0.0, 0.0, 5.0], [2.0, 2.0, 4.0]])
    conditions = np.repeat(np.arange(3), 100_000)
    drawn = ConditionalDraw.of(weights).draw(np.random.default_rng(0), conditions)
    shares = np.array([np.bincount(drawn[conditions == c], minlength=3) / 100_000 for c in range(3)])
    assert shares == pytest.approx(weights / weights.sum(axis=1, keepdims=True), abs=0.01)
    # What has no weight never comes, not even by rounding.
    assert (shares[weights == 0] == 0).all()


def test_the_ends_of_a_stretch_stay_in_it() -> None:
    class Ends:
        """Draws only the smallest and the largest number that the generator can."""

        def random(self, size: int, dtype: type) -> np.ndarray:
            return np.resize(np.array([0.0, 1.0 - np.finfo(dtype).epsneg], dtype=dtype), size)

    many = 100_000
    draw = ConditionalDraw.of(np.tile([0.0, 1.0, 1.0, 0.0], (many, 1)))
    drawn = draw.draw(Ends(), np.repeat(np.arange(many), 2))  # type: ignore[arg-type]
    assert (drawn.reshape(-1, 2) == [1, 2]).all()

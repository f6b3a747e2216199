"""Distances between histograms, worked out by hand."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from incrowd.experiments.distances import city_block, kullback_leibler


def test_city_block() -> None:
    assert city_block(np.array([[3.0, 0.0], [1.0, 1.0]]), np.array([[1.0, 2.5], [1.0, 1.0]])).tolist() == [4.5, 0.0]


def test_kullback_leibler() -> None:
    true, found = np.array([[3.5, 0.5], [2.0, 2.0]]), np.array([[1.5, 1.5], [2.0, 2.0]])
    # Half a person more in each bar: 4 and 1 of 5 against 2 and 2 of 4.
    expected = 0.8 * log(0.8 / 0.5) + 0.2 * log(0.2 / 0.5)
    assert kullback_leibler(true, found) == pytest.approx([expected, 0.0])


def test_negative_counts_are_as_empty_ones() -> None:
    true = np.array([[5.0, 5.0]])
    assert kullback_leibler(true, np.array([[-7.0, 5.0]])) == kullback_leibler(true, np.array([[0.0, 5.0]]))
    assert np.isfinite(kullback_leibler(np.zeros((1, 2)), np.zeros((1, 2)))).all()

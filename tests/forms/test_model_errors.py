"""What noise and an unknown dependence of columns do to a count of several conditions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from incrowd.forms.model_errors import several_conditions, usual_dependence


def test_a_table_of_four_cells_that_is_off_by_a_correlation() -> None:
    rows, p, q, phi = 1000.0, 0.3, 0.6, 0.05
    moved = phi * math.sqrt(p * (1 - p) * q * (1 - q))
    table = rows * np.array([[p * q + moved, p * (1 - q) - moved], [(1 - p) * q - moved, (1 - p) * (1 - q) + moved]])
    assert table.sum(axis=1) == pytest.approx([rows * p, rows * (1 - p)])
    noise, spread = several_conditions([p, q], [400.0, 0.0], rows, phi)
    assert spread == pytest.approx(abs(table[0, 0] - rows * p * q))
    assert noise == pytest.approx(400 * q**2)


def test_a_condition_that_everybody_satisfies_changes_nothing() -> None:
    two = several_conditions([0.3, 0.6], [400.0, 100.0], 1000.0, 0.05)
    assert several_conditions([0.3, 0.6, 1.0], [400.0, 100.0, 0.0], 1000.0, 0.05) == pytest.approx(two)
    assert several_conditions([0.3, 1.0], [0.0, 0.0], 1000.0, 0.05)[1] == 1.0  # a model is never right to less


def test_what_is_known_with_each_of_the_others_adds_no_dependence() -> None:
    shares, noise = [0.3, 0.6, 0.5], [400.0, 100.0, 50.0]
    known, spread = several_conditions(shares, noise, 1000.0, 0.05, [2])
    assert known == several_conditions(shares, noise, 1000.0, 0.05)[0]
    assert spread == pytest.approx(0.5 * several_conditions(shares[:2], noise[:2], 1000.0, 0.05)[1])


def test_more_noise_means_that_less_is_known_of_columns_together() -> None:
    assert usual_dependence([100.0, 400.0], 10_000, 0.3) < usual_dependence([10_000.0, 40_000.0], 10_000, 0.3)
    assert usual_dependence([1e12], 10, 0.3) == usual_dependence([1e14], 10, 0.3)  # a correlation is never near one
    assert usual_dependence([4.0], 1000, 0.3) == usual_dependence([4.0, 4.0], 1000, 0.3)

"""The exact δ of sampling and suppression, held against every outcome of every crowd, counted in fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.dp.exact_suppression import exact_delta, exact_worst_case
from incrowd.dp.sampled_suppression import delta_of, least_epsilon
from incrowd.errors import RecipeError
from tests.dp.naive_suppression import hockey_stick

rates = st.fractions(min_value=Fraction(1, 20), max_value=Fraction(9, 10), max_denominator=50)


@settings(max_examples=8)
@given(st.integers(1, 8), rates, st.fractions(min_value=0, max_value=2, max_denominator=20))
def test_it_is_the_worst_of_all_outcomes(k: int, rate: Fraction, more: Fraction) -> None:
    epsilon = Fraction(str(least_epsilon(rate))) + more
    worst = exact_worst_case(k, rate, epsilon)
    crowds = max(40, worst.crowd + 10)
    assert worst.delta == pytest.approx(float(hockey_stick(k, rate, epsilon, crowds)), rel=1e-11)


@settings(max_examples=15)
@given(st.integers(1, 200), st.floats(0.001, 0.95), st.floats(0, 4))
def test_theorem_1_is_never_below_it(k: int, rate: float, more: float) -> None:
    epsilon = least_epsilon(rate) + more
    assert exact_delta(k, rate, epsilon) <= delta_of(k, rate, epsilon) * (1 + 1e-11)


@settings(max_examples=15)
@given(st.integers(1, 100), st.floats(0.001, 0.9), st.floats(0.1, 0.999), st.floats(0, 3))
def test_a_sample_of_a_sample_is_at_least_as_private(k: int, rate: float, part: float, more: float) -> None:
    """The search for the largest rate rests on this: δ at a part of the rate is at most that part of δ."""
    epsilon = least_epsilon(rate) + more
    assert exact_delta(k, rate * part, epsilon) <= part * exact_delta(k, rate, epsilon) * (1 + 1e-9)


def test_table_1_is_3_to_102_times_too_large() -> None:
    """k = 20: what theorem 1 says over what is so, in the cells of Table 1."""
    times = [
        delta_of(20, rate, epsilon) / exact_delta(20, rate, epsilon)
        for rate in ("0.05", "0.1", "0.2")
        for epsilon in ("0.25", "0.5", "0.75", "1", "1.5", "2")
    ]
    assert f"{min(times):.3g} {max(times):.3g}" == "3.39 102"


def test_one_person_alone_is_sampled_or_not() -> None:
    assert exact_delta(1, "0.2", 1) == pytest.approx(0.2, rel=1e-13)
    assert exact_worst_case(1, "0.2", 1).crowd == 1


def test_a_whole_crowd_shows_at_any_epsilon() -> None:
    assert exact_delta(5, "0.5", 900) == pytest.approx(0.5**5, rel=1e-12)


def test_far_below_what_floats_hold() -> None:
    worst = exact_worst_case(2000, "0.01", 1)
    assert worst.delta > 0
    assert -10_000 < worst.log_delta < -700
    assert math.isfinite(worst.log_delta)


def test_what_theorem_1_is_not_about_is_refused() -> None:
    with pytest.raises(RecipeError, match="at least"):
        exact_delta(5, "0.5", "0.6")

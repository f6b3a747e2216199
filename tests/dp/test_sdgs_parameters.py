"""The planner: the fourth of four, held against going through all candidates."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.dp.binomial import log_tail
from incrowd.dp.exact_suppression import exact_delta
from incrowd.dp.largest_rate import _enters, largest_rate_by_theorem
from incrowd.dp.sampled_suppression import delta_of, least_epsilon, peak_crowd
from incrowd.dp.sdgs_parameters import Bound, largest_rate, plan, smallest_epsilon, smallest_k, warn_of_delta
from incrowd.errors import RecipeError

SLACK = 1 + 2e-12

deltas = st.floats(-9, -1).map(lambda power: 10**power)
rates = st.floats(0.01, 0.9)
bounds = st.sampled_from([exact_delta, delta_of])


@settings(max_examples=10)
@given(rates, st.floats(0, 2), deltas, bounds)
def test_the_smallest_k_is_the_smallest(rate: float, more: float, delta: float, bound: Bound) -> None:
    epsilon = least_epsilon(rate) + more
    k = smallest_k(epsilon=epsilon, delta=delta, rate=rate, bound=bound)
    assert bound(k, rate, epsilon) <= delta * SLACK
    assert k == 1 or bound(k - 1, rate, epsilon) > delta


def test_the_smallest_k_by_trying_all() -> None:
    for delta in ("1e-3", "1e-6", "3e-9"):
        for bound in (exact_delta, delta_of):
            wanted = next(k for k in range(1, 200) if bound(k, 0.2, "0.5") <= float(delta))
            assert smallest_k(epsilon="0.5", delta=delta, rate=0.2, bound=bound) == wanted


@settings(max_examples=10)
@given(rates, st.floats(0, 2), st.integers(1, 60), bounds)
def test_what_a_k_gives_asks_for_no_more_than_that_k(rate: float, more: float, k: int, bound: Bound) -> None:
    epsilon = least_epsilon(rate) + more
    delta = bound(k, rate, epsilon)
    found = smallest_k(epsilon=epsilon, delta=delta, rate=rate, bound=bound)
    assert found <= k
    assert bound(found, rate, epsilon) == pytest.approx(delta, rel=1e-11)


@settings(max_examples=10)
@given(rates, st.integers(1, 50), deltas, bounds)
def test_the_smallest_epsilon_is_the_smallest(rate: float, k: int, delta: float, bound: Bound) -> None:
    if rate**k > delta * 0.99:
        return
    epsilon = smallest_epsilon(delta=delta, k=k, rate=rate, bound=bound)
    assert bound(k, rate, epsilon) <= delta * SLACK
    if epsilon > least_epsilon(rate):
        assert bound(k, rate, max(epsilon * (1 - 1e-10), least_epsilon(rate))) > delta


@settings(max_examples=10)
@given(st.floats(0.05, 4), st.integers(1, 50), deltas)
def test_no_larger_rate_fits_theorem_1(epsilon: float, k: int, delta: float) -> None:
    rate = largest_rate_by_theorem(epsilon=epsilon, delta=delta, k=k)
    assert delta_of(k, rate, epsilon) <= delta * SLACK
    largest = -math.expm1(-epsilon)
    assert rate <= largest
    for larger in (rate * (1 + 1e-10), *np.linspace(rate, largest, 80)[1:]):
        if rate * (1 + 1e-11) < larger < largest * (1 - 1e-12):
            assert delta_of(k, float(larger), epsilon) > delta


@settings(max_examples=8)
@given(st.floats(0.05, 4), st.integers(1, 50), deltas)
def test_no_larger_rate_fits(epsilon: float, k: int, delta: float) -> None:
    rate = largest_rate(epsilon=epsilon, delta=delta, k=k)
    assert exact_delta(k, rate, epsilon) <= delta * SLACK
    assert rate >= largest_rate_by_theorem(epsilon=epsilon, delta=delta, k=k) * (1 - 1e-11)
    largest = -math.expm1(-epsilon)
    for larger in (rate * (1 + 1e-10), *np.linspace(rate, largest, 12)[1:]):
        if rate * (1 + 1e-11) < larger < largest * (1 - 1e-12):
            assert exact_delta(k, float(larger), epsilon) > delta


def test_the_saw_has_teeth_and_the_last_that_fits_is_found() -> None:
    """k = 20, ε = 1: δ drops where a crowd changes, so some rates fit above others that do not."""
    delta = "1e-6"
    best = largest_rate_by_theorem(epsilon=1, delta=delta, k=20)
    grid = np.arange(0.25, 0.35, 0.0001)
    fits = np.array([delta_of(20, float(rate), 1) <= 1e-6 for rate in grid])
    assert (~fits[: fits.nonzero()[0].max()]).any()
    assert 0 <= best - grid[fits].max() < 0.0001


@settings(max_examples=10)
@given(st.integers(1, 300), st.fractions(min_value=Fraction(1, 50), max_value=6, max_denominator=100))
def test_the_lowest_points_of_the_teeth_rise_with_the_rate(k: int, epsilon: Fraction) -> None:
    """The start of the search for the largest rate rests on this."""
    largest = -math.expm1(-float(epsilon))
    smallest_crowd, largest_crowd = peak_crowd(k, Fraction(largest), epsilon), math.floor(k / largest)
    crowds = np.unique(np.linspace(smallest_crowd, largest_crowd - 1, 80).astype(int)).tolist()
    lows = [log_tail(crowd, rate, k) for crowd in crowds if 0 < (rate := _enters(epsilon, k, crowd)) <= largest]
    assert all(smaller >= larger for smaller, larger in pairwise(lows))


def test_equal_protection_of_figure_4() -> None:
    """Doubling β from (k = 15, β = 0.05) on: the paper says k = 22, 35, 60 give about the same δ."""
    for epsilon, wanted in ((1, [15, 22, 36, 79]), (1.5, [15, 21, 32, 63]), (2, [15, 20, 30, 59])):
        delta = delta_of(15, 0.05, epsilon)
        found = [smallest_k(epsilon=epsilon, delta=delta, rate=rate, bound=delta_of) for rate in (0.05, 0.1, 0.2, 0.4)]
        assert found == wanted
    for ours, theirs in zip([15, 21, 32, 63], [15, 22, 35, 60], strict=True):  # in the middle of the figure
        assert abs(ours - theirs) <= 3


def test_smaller_epsilons_need_larger_crowds_as_in_figure_6() -> None:
    """δ ≤ 1e-6: ε falls with k, and is larger for larger rates."""
    by_rate = [[smallest_epsilon(delta="1e-6", k=k, rate=rate) for k in (10, 20, 40, 80)] for rate in (0.05, 0.1, 0.2)]
    for row in by_rate:
        assert row == sorted(row, reverse=True)
    for smaller, larger in pairwise(by_rate):
        assert all(a < b for a, b in zip(smaller, larger, strict=True))


def test_any_three_give_the_fourth() -> None:
    start = plan(epsilon=1, k=20, rate="0.1")
    assert start.found == "delta"
    assert start.delta == exact_delta(20, "0.1", 1)
    assert start.by_theorem_1 == delta_of(20, "0.1", 1)
    assert plan(epsilon=1, delta=start.delta, rate="0.1").k == 20
    assert plan(epsilon=1, delta=start.delta, k=20).rate == pytest.approx(0.1, rel=1e-9)
    assert plan(delta=start.delta, k=20, rate="0.1").epsilon <= 1
    assert plan(delta=start.delta, k=20, rate="0.1").found == "epsilon"


def test_what_theorem_1_asks_for_is_never_better() -> None:
    """β = 0.3, ε = 1, δ = 1e-6: k = 17 is enough, and theorem 1 asks for 22."""
    found = plan(epsilon=1, delta="1e-6", rate="0.3")
    assert (found.k, found.by_theorem_1) == (17, 22)
    assert plan(epsilon=1, delta="1e-6", k=20).rate > plan(epsilon=1, delta="1e-6", k=20).by_theorem_1
    assert plan(delta="1e-6", k=20, rate="0.3").epsilon < plan(delta="1e-6", k=20, rate="0.3").by_theorem_1


def test_three_are_needed() -> None:
    for few in ({}, {"k": 5}, {"k": 5, "rate": 0.1}, {"k": 5, "rate": 0.1, "epsilon": 1, "delta": 0.1}):
        with pytest.raises(RecipeError, match=f"not {len(few)}"):
            plan(**few)  # type: ignore[arg-type]


def test_a_crowd_that_is_sampled_whole_shows_at_any_epsilon() -> None:
    with pytest.raises(RecipeError, match=r"no ε is enough.*probability 0.0312"):
        smallest_epsilon(delta="0.03", k=5, rate="0.5")
    assert smallest_epsilon(delta=0.5**5, k=5, rate="0.5", bound=delta_of) == pytest.approx(math.log(4), rel=1e-11)
    assert smallest_epsilon(delta=0.5**5, k=5, rate="0.5") < 1.0001


def test_parameters_far_out() -> None:
    assert smallest_k(epsilon=50, delta="1e-6", rate="0.999999") == math.ceil(math.log(1e-6) / math.log(0.999999))
    for largest in (largest_rate, largest_rate_by_theorem):
        assert largest(epsilon=30, delta="1e-3", k=10**7) == pytest.approx(0.001 ** (1 / 10**7), rel=3e-12)
        assert largest(epsilon=1, delta="1e-6", k=1) == pytest.approx(1e-6, rel=1e-11)
        assert largest(epsilon="1e-9", delta="0.5", k=5) == pytest.approx(1e-9, rel=1e-8)
        with pytest.raises(RecipeError, match="no sampling rate is small enough"):
            largest(epsilon=1, delta="1e-200", k=2)


@pytest.mark.parametrize("wrong", [0, 1, -0.5, 2, float("nan")])
def test_delta_is_between_zero_and_one(wrong: float) -> None:
    for ask in (
        lambda: smallest_k(epsilon=1, delta=wrong, rate=0.1),
        lambda: smallest_epsilon(delta=wrong, k=5, rate=0.1),
        lambda: largest_rate(epsilon=1, delta=wrong, k=5),
    ):
        with pytest.raises(RecipeError, match="δ is"):
            ask()


def test_too_large_a_delta_is_told() -> None:
    assert warn_of_delta("1e-7", 30_000) is None
    assert warn_of_delta("1e-6", 0) is None
    assert "50,000,000 rows: the promise may fail for 5 of them" in str(warn_of_delta("1e-7", 50_000_000))

"""Theorem 1 of Li, Qardaji & Su (2012): the paper's numbers, and the definitions worked out exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.dp import sampled_suppression
from incrowd.dp.binomial import log_tail
from incrowd.dp.largest_rate import largest_rate_by_theorem
from incrowd.dp.sampled_suppression import (
    WorstCase,
    chernoff_exponent,
    delta_curve,
    delta_of,
    least_epsilon,
    worst_case,
)
from incrowd.dp.smooth_bound import SmoothBound
from incrowd.errors import RecipeError
from tests.dp.naive_suppression import bad_probability, hockey_stick, theorem

EPSILONS = [0.25, 0.5, 0.75, 1.0, 1.5, 2.0]
TABLE_1 = {
    0.05: ["6.83e-10", "2.50e-14", "3.19e-17", "1.76e-19", "3.97e-22", "2.00e-24"],
    0.1: ["4.19e-06", "1.61e-09", "3.44e-12", "4.07e-14", "3.22e-16", "1.89e-18"],
    0.2: ["2.16e-03", "8.02e-06", "1.89e-07", "6.03e-09", "4.79e-11", "1.59e-12"],
}
MORE_DIGITS = {
    0.05: [6.82865e-10, 2.49888e-14, 3.19495e-17, 1.75951e-19, 3.97025e-22, 1.99819e-24],
    0.1: [4.19477e-6, 1.60625e-9, 3.43671e-12, 4.07251e-14, 3.22197e-16, 1.89100e-18],
    0.2: [2.15828e-3, 8.01836e-6, 1.89197e-7, 6.03285e-9, 4.78873e-11, 1.58754e-12],
}


@st.composite
def parameters(draw: st.DrawFn, most_k: int = 12) -> tuple[int, Fraction, Fraction]:
    k = draw(st.integers(1, most_k))
    rate = draw(st.fractions(min_value=Fraction(1, 50), max_value=Fraction(9, 10), max_denominator=100))
    least = Fraction(str(least_epsilon(rate)))
    return k, rate, least + draw(st.fractions(min_value=0, max_value=3, max_denominator=1000))


@pytest.mark.parametrize("rate", TABLE_1)
def test_table_1(rate: float) -> None:
    assert [f"{delta:.2e}" for delta in delta_curve(20, rate, EPSILONS)] == TABLE_1[rate]
    assert delta_curve(20, rate, EPSILONS) == pytest.approx(MORE_DIGITS[rate], rel=5e-6)


def test_the_first_peak_is_not_always_the_highest() -> None:
    worst = worst_case(20, 0.3, 1)
    assert (worst.crowd, worst.seen) == (28, 21)
    assert worst.delta == pytest.approx(1.1761e-6, rel=5e-5)
    assert math.exp(log_tail(26, 0.3, 20)) == pytest.approx(1.0722e-6, rel=5e-5)


@settings(max_examples=8)
@given(parameters())
def test_it_is_the_maximum_of_the_theorem(given_parameters: tuple[int, Fraction, Fraction]) -> None:
    k, rate, epsilon = given_parameters
    wanted = theorem(k, rate, epsilon, crowds=60)
    assert delta_of(k, rate, epsilon) == pytest.approx(float(wanted), rel=1e-12)


@settings(max_examples=10)
@given(parameters(most_k=8))
def test_it_is_how_likely_a_bad_outcome_is(given_parameters: tuple[int, Fraction, Fraction]) -> None:
    """By definition 2, without any of the proof: the worst of all crowds up to one that is large enough."""
    k, rate, epsilon = given_parameters
    found = worst_case(k, rate, epsilon)
    crowds = min(found.crowd + 10, 60)
    wanted = bad_probability(k, rate, epsilon, crowds)
    if found.crowd <= crowds:
        assert found.delta == pytest.approx(float(wanted), rel=1e-12)
    else:
        assert found.delta >= float(wanted)


@settings(max_examples=10)
@given(parameters(most_k=8))
def test_it_is_never_below_what_the_usual_definition_asks_for(given_parameters: tuple[int, Fraction, Fraction]) -> None:
    k, rate, epsilon = given_parameters
    assert float(hockey_stick(k, rate, epsilon, crowds=40)) <= delta_of(k, rate, epsilon) * (1 + 1e-12)


@settings(max_examples=10)
@given(parameters(most_k=60), st.integers(0, 40))
def test_no_peak_is_above_the_bound_that_ends_the_search(
    given_parameters: tuple[int, Fraction, Fraction], later: int
) -> None:
    k, rate, epsilon = given_parameters
    gamma = 1 - (1 - float(rate)) * math.exp(-epsilon)
    seen = k + later
    crowd = math.floor(seen / gamma)
    while gamma * crowd >= seen:
        crowd -= 1
    log_peak = log_tail(crowd, float(rate), seen)
    assert log_peak <= -chernoff_exponent(rate, epsilon) * seen + 1e-9
    assert log_peak <= worst_case(k, rate, epsilon).log_delta + 1e-9


@settings(max_examples=10)
@given(parameters(most_k=60))
def test_delta_falls_with_k_and_with_epsilon(given_parameters: tuple[int, Fraction, Fraction]) -> None:
    k, rate, epsilon = given_parameters
    here = worst_case(k, rate, epsilon).log_delta
    assert worst_case(k + 1, rate, epsilon).log_delta <= here
    assert worst_case(k, rate, epsilon * Fraction(11, 10)).log_delta <= here


def test_where_gamma_n_is_whole_the_larger_delta_is_told() -> None:
    """ε = ln 2, β = 0.1: γ = 0.55, and 0.55·20 = 11. Whether 11 of 20 is too many hangs on the last digit of ln 2."""
    for written in (math.log(2), math.nextafter(math.log(2), 1), "0.693147180559945309417"):
        worst = worst_case(11, 0.1, written)
        assert (worst.crowd, worst.seen) == (20, 11)
    assert worst_case(11, "0.1", "0.69314718056").crowd == 19  # that is another ε


def test_ln_3_and_rates_that_are_no_binary_fraction() -> None:
    """γ = 1 − 0.9/3 = 0.7 and γ·10 = 7; the float nearest to ln 3 is above it."""
    assert Fraction(math.log(3)) > Fraction("1.09861228866810969139")
    assert worst_case(7, 0.1, math.log(3)).crowd == 10


def test_small_crowds_of_figure_5() -> None:
    """With k = 1 all protection is the sampling's: δ = β. From k = 2 on it is below 0.001 at ε = 2."""
    assert delta_of(1, "0.025", 2) == pytest.approx(0.025, rel=1e-13)
    assert delta_of(2, "0.025", 2) < 0.001
    for k in range(1, 5):
        assert delta_of(k + 1, "0.025", 2) < delta_of(k, "0.025", 2) / 20


def test_ten_more_in_a_crowd_of_figure_2() -> None:
    """At ε = 2 and β = 0.2, ten more lower δ by about a factor of 1e-5."""
    for k in (10, 20, 30):
        assert 1e-7 < delta_of(k + 10, 0.2, 2) / delta_of(k, 0.2, 2) < 1e-5


@pytest.mark.parametrize("ratio", [1, 10, 1000])
def test_large_crowds_and_long_tails(ratio: int) -> None:
    """δ far below anything a float can hold keeps its logarithm; and it never comes out as 0."""
    worst = worst_case(1000 * ratio, "0.001", "0.5")
    assert worst.log_delta == pytest.approx(-5208 * ratio, rel=0.01)
    assert worst.delta == math.ulp(0.0)
    assert WorstCase(1, 1, 0.0).delta == 1


@pytest.mark.parametrize(("rate", "least"), [("0.5", math.log(2)), ("0.1", -math.log(0.9)), ("0.999", math.log(1000))])
def test_the_least_epsilon_is_allowed_and_nothing_below(rate: str, least: float) -> None:
    found = least_epsilon(rate)
    assert found == pytest.approx(least, rel=1e-15)
    delta_of(5, rate, found)
    with pytest.raises(RecipeError, match=r"ε is at least −ln\(1−β\)"):
        delta_of(5, rate, found * (1 - 1e-15))


@pytest.mark.parametrize("wrong", [0, 1, -0.1, 1.5, "0", "1e-30", "0.99999999999999999999", float("nan"), "half", True])
def test_a_rate_is_between_zero_and_one(wrong: float) -> None:
    with pytest.raises(RecipeError, match="sampling rate β"):
        delta_of(5, wrong, 1)


@pytest.mark.parametrize("wrong", [0, -1, "1e-30", 1e9, float("inf"), None])
def test_epsilon_is_above_zero(wrong: float) -> None:
    with pytest.raises(RecipeError, match="ε is"):
        delta_of(5, 0.1, wrong)


@pytest.mark.parametrize("wrong", [0, -3, 2.5, True])
def test_k_is_a_whole_number(wrong: int) -> None:
    with pytest.raises(RecipeError, match="k is a whole number"):
        delta_of(wrong, 0.1, 1)


@settings(max_examples=10)
@given(parameters(most_k=60), st.floats(1, 5))
def test_the_smooth_bound_is_never_below_delta(given_parameters: tuple[int, Fraction, Fraction], times: float) -> None:
    k, rate, epsilon = given_parameters
    bound = SmoothBound.of(k, rate=rate, epsilon=epsilon)
    assert bound.delta_at(times) >= delta_of(k, rate, epsilon * Fraction(times)) * (1 - 1e-9)
    assert bound.delta_at(times) <= bound.delta * (1 + 1e-12)
    assert bound.falls_to(times) == pytest.approx(bound.delta_at(times) / bound.delta, rel=1e-9)


def test_the_smooth_bound_is_the_papers_formula() -> None:
    gamma = (math.exp(0.5) - 1 + 0.1) / math.exp(0.5)
    wanted = math.exp(-20 * (math.log(gamma / 0.1) - (gamma - 0.1) / gamma))
    bound = SmoothBound.of(20, rate="0.1", epsilon="0.5")
    assert bound.epsilon == Fraction(1, 2)
    assert bound.delta == pytest.approx(wanted, rel=1e-12)
    assert bound.falls_to(1) == 1


def test_the_smooth_bound_falls_fast() -> None:
    """Figure 7: k = 20; f falls from 1, exponentially fast."""
    for epsilon in (0.5, 1, 1.5, 2):
        falls = [SmoothBound.of(20, rate=0.2, epsilon=epsilon).falls_to(times) for times in (1, 1.5, 2, 3)]
        assert falls[0] == 1
        assert all(later < earlier for earlier, later in pairwise(falls))


def test_smooth_bounds_compose() -> None:
    """Theorem 5: ε and δ add up, and f is the larger of both."""
    first, second = SmoothBound.of(20, rate=0.1, epsilon=0.5), SmoothBound.of(30, rate=0.2, epsilon=1)
    both = first + second
    assert both.epsilon == Fraction(3, 2)
    assert both.delta == pytest.approx(first.delta + second.delta)
    for times in (1, 1.7, 3):
        assert both.falls_to(times) == max(first.falls_to(times), second.falls_to(times))
        assert both.delta_at(times) <= both.delta * both.falls_to(times) * (1 + 1e-12)


def test_the_smooth_bound_says_nothing_about_smaller_epsilons() -> None:
    for wrong in (0.5, float("nan")):
        with pytest.raises(ValueError, match="larger"):
            SmoothBound.of(20, rate=0.1, epsilon=0.5).delta_at(wrong)
    with pytest.raises(RecipeError):
        SmoothBound.of(20, rate=0.5, epsilon=0.5)


@pytest.mark.parametrize("k", [2**63, int("9" * 400)], ids=["64 bits", "400 digits"])
def test_a_crowd_larger_than_all_people_is_refused_at_once(k: int) -> None:
    with pytest.raises(RecipeError, match="k is a whole number of at most"):
        largest_rate_by_theorem(epsilon=1, delta="1e-6", k=k)


def test_a_search_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampled_suppression, "_MOST_STEPS", 2000)
    with pytest.raises(RecipeError, match=r"too far to look for.  Hint: "):
        largest_rate_by_theorem(epsilon=1000, delta="1e-300", k=2**31)

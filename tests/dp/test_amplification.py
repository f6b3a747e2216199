"""What sampling saves: the paper's example, the exact mechanism it is tight for, and rounding to the safe side."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from incrowd.dp.amplification import amplified, budget_on_sample
from incrowd.dp.budget import Budget
from incrowd.errors import RecipeError

epsilons = st.fractions(min_value=Fraction(1, 10**6), max_value=50)
rates = st.fractions(min_value=Fraction(1, 10**4), max_value=1)


def raised(epsilon: Fraction, share: Fraction) -> Decimal:
    """Return 1 + share·(e^ε − 1), to 100 digits."""
    return 1 + Decimal(share.numerator) / Decimal(share.denominator) * (exp(epsilon) - 1)


def exp(epsilon: Fraction) -> Decimal:
    return (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()


def test_a_tenth_of_the_rows_turns_ln_2_into_ln_1_1() -> None:
    """Li, Qardaji & Su, section 5."""
    found = amplified(Budget(math.log(2)), 0.1)
    assert math.isclose(found.epsilon, math.log(1.1), rel_tol=1e-14)
    assert found.delta == 0


def test_from_one_rate_to_a_smaller_one() -> None:
    """Theorem 3: only the ratio of the rates counts."""
    assert amplified(Budget(1), "0.05", already="0.5") == amplified(Budget(1), "0.1")
    assert amplified(Budget(1), "0.5", already="0.5") == Budget(1)


@given(epsilons, rates)
def test_no_more_is_promised_than_holds(epsilon: Fraction, rate: Fraction) -> None:
    found = amplified(Budget(epsilon), rate).epsilon
    assert found <= epsilon
    with localcontext() as context:
        context.prec = 100
        assert exp(found) >= raised(epsilon, rate) or found == epsilon
        assert exp(found * (1 - Fraction(1, 10**13))) < raised(epsilon, rate)


@given(epsilons, rates)
def test_a_sample_may_be_told_more_and_not_too_much(epsilon: Fraction, rate: Fraction) -> None:
    inside = budget_on_sample(Budget(epsilon), rate)
    assert inside.epsilon >= epsilon
    with localcontext() as context:
        context.prec = 100
        assert raised(inside.epsilon, rate) <= exp(epsilon)
        assert raised(inside.epsilon * (1 + Fraction(1, 10**13)), rate) > exp(epsilon)


@given(epsilons, rates, rates)
def test_sampling_twice_is_sampling_at_the_product(epsilon: Fraction, first: Fraction, second: Fraction) -> None:
    twice = amplified(amplified(Budget(epsilon), first), second).epsilon
    assert math.isclose(twice, amplified(Budget(epsilon), first * second).epsilon, rel_tol=1e-12)


def test_delta_shrinks_with_the_rate() -> None:
    assert amplified(Budget(1, "1e-6"), "0.1").delta == Fraction(1, 10**7)
    assert budget_on_sample(Budget(1, "1e-7"), "0.1").delta == Fraction(1, 10**6)
    with pytest.raises(RecipeError, match="too large to be spent"):
        budget_on_sample(Budget(1, "0.2"), "0.1")


@pytest.mark.parametrize("rate", [0.01, 0.3, 0.9])
def test_it_is_tight_for_noisy_counts(rate: float) -> None:
    """One row, sampled and counted with noise, against no row: the largest ratio is exactly what is promised."""
    values = range(-60, 61)
    ratios = []
    for value in values:
        without = stats.dlaplace.pmf(value, 0.7)
        with_row = (1 - rate) * without + rate * stats.dlaplace.pmf(value - 1, 0.7)
        ratios += [with_row / without, without / with_row]
    assert math.isclose(math.log(max(ratios)), amplified(Budget("0.7"), rate).epsilon, rel_tol=1e-9)


def hockey_stick(first: list[float], second: list[float], epsilon: float) -> float:
    return sum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("rate", [0.05, 0.5])
def test_it_holds_for_a_mechanism_with_delta(rate: float) -> None:
    """The worst (ε, δ) there is: it tells all with probability δ, and else answers as randomized response does."""
    epsilon, delta = 1.0, 0.01
    high, low = math.exp(epsilon) / (1 + math.exp(epsilon)), 1 / (1 + math.exp(epsilon))
    inside = [delta, (1 - delta) * high, (1 - delta) * low, 0.0]
    outside = inside[::-1]
    sampled = [(1 - rate) * b + rate * a for a, b in zip(inside, outside, strict=True)]
    promised = amplified(Budget(1, "0.01"), rate)
    for one, other in ((sampled, outside), (outside, sampled)):
        assert hockey_stick(one, other, float(promised.epsilon)) <= float(promised.delta) + 1e-12


@pytest.mark.parametrize(("rate", "already"), [(0, 1), (1.5, 1), (-0.1, 1), (0.5, 0.2), (0.5, 2)])
def test_a_rate_is_above_zero_and_at_most_the_one_before(rate: float, already: float) -> None:
    with pytest.raises(RecipeError, match="sampling rate"):
        amplified(Budget(1), rate, already=already)


@pytest.mark.parametrize("wrong", [0, 1.01, -1])
def test_a_sample_has_a_rate(wrong: float) -> None:
    with pytest.raises(RecipeError, match="sampling rate"):
        budget_on_sample(Budget(1), wrong)


def test_a_huge_epsilon_stays() -> None:
    assert amplified(Budget(10**6), "0.5") == Budget(10**6)
    assert budget_on_sample(Budget(10**6), "0.5") == Budget(10**6)

"""Binomial probabilities: against exact fractions and SciPy."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from incrowd.dp.binomial import log_probability, log_tail, proportion_bounds


def exact_log(number: Fraction) -> float:
    if number == 0:
        return -math.inf
    with localcontext() as context:
        context.prec = 60
        return float((Decimal(number.numerator) / Decimal(number.denominator)).ln())


def exact_probability(number: int, rate: Fraction, count: int) -> Fraction:
    return math.comb(number, count) * rate**count * (1 - rate) ** (number - count)


def exact_tail(number: int, rate: Fraction, count: int) -> Fraction:
    return sum((exact_probability(number, rate, each) for each in range(max(count, 0), number + 1)), start=Fraction(0))


rates = st.one_of(st.floats(1e-9, 1 - 1e-9), st.sampled_from([0.5, 0.1, 0.999999, 1e-300]))


@given(st.integers(1, 60), rates, st.data())
@example(1, 0.5, None)
def test_probabilities_and_tails_are_exact_to_twelve_digits(
    number: int, rate: float, data: st.DataObject | None
) -> None:
    count = data.draw(st.integers(0, number)) if data is not None else 1
    for found, wanted in (
        (log_probability(number, rate, count), exact_log(exact_probability(number, Fraction(rate), count))),
        (log_tail(number, rate, count), exact_log(exact_tail(number, Fraction(rate), count))),
    ):
        assert abs(found - wanted) <= 1e-13 * max(1, abs(wanted))
        assert found <= 0


@pytest.mark.parametrize("number", [1, 2, 5, 19, 20, 21, 22, 60])
def test_all_probabilities_add_up_to_one(number: int) -> None:
    for rate in (0.01, 0.3, 0.5, 0.99):
        total = math.fsum(math.exp(log_probability(number, rate, count)) for count in range(number + 1))
        assert math.isclose(total, 1, rel_tol=1e-14)


@pytest.mark.parametrize(
    ("number", "rate", "count"),
    [
        (10**6, 0.1, 101_000),
        (10**5, 0.001, 200),
        (10**7, 0.5, 5_010_000),
        (10**6, 0.1, 99_000),
        (300_000, 0.7, 209_000),
    ],
)
def test_large_tails_are_those_of_scipy(number: int, rate: float, count: int) -> None:
    assert math.isclose(log_tail(number, rate, count), float(stats.binom.logsf(count - 1, number, rate)), rel_tol=1e-10)


@pytest.mark.parametrize("count", [12_400, 12_499, 12_500, 12_501, 12_530, 13_000])
def test_no_digits_are_lost_near_the_middle_of_a_large_crowd(count: int) -> None:
    with localcontext() as context:
        context.prec = 60
        eighth = Decimal(1) / 8
        wanted = Decimal(math.comb(100_000, count)).ln() + count * eighth.ln() + (100_000 - count) * (1 - eighth).ln()
    assert abs(log_probability(100_000, 0.125, count) - float(wanted)) < 1e-13


@pytest.mark.parametrize(
    ("number", "rate", "count", "wanted"),
    [
        (10, 0.3, 0, 1),
        (10, 0.3, -3, 1),
        (10, 0.3, 11, 0),
        (10, 0.0, 1, 0),
        (10, 0.0, 0, 1),
        (10, 1.0, 10, 1),
        (0, 0.3, 0, 1),
        (0, 0.3, 1, 0),
        (7, 0.5, 7, 0.5**7),
    ],
)
def test_tails_at_the_edges(number: int, rate: float, count: int, wanted: float) -> None:
    assert math.isclose(math.exp(log_tail(number, rate, count)), wanted, rel_tol=1e-14)


def test_probabilities_at_the_edges() -> None:
    assert log_probability(5, 0.0, 0) == log_probability(5, 1.0, 5) == 0
    for rate, count in ((0.0, 1), (1.0, 4), (0.5, -1), (0.5, 6)):
        assert log_probability(5, rate, count) == -math.inf


@pytest.mark.parametrize("number", [1, 7, 100, 20_000])
@pytest.mark.parametrize("share", [0, 0.01, 0.3, 0.5, 0.999, 1])
@pytest.mark.parametrize("error", [0.05, 0.005, 1e-6])
def test_bounds_are_those_of_clopper_and_pearson(number: int, share: float, error: float) -> None:
    count = round(number * share)
    low, high = proportion_bounds(count, number, error)
    wanted_low = 0 if count == 0 else stats.beta.ppf(error, count, number - count + 1)
    wanted_high = 1 if count == number else stats.beta.ppf(1 - error, count + 1, number - count)
    assert math.isclose(low, wanted_low, rel_tol=1e-7)
    assert math.isclose(high, wanted_high, rel_tol=1e-7)

"""Sampling with suppression, straight from the definitions of Li, Qardaji & Su (2012), with exact probabilities."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache


def exp(number: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 80
        return Fraction((Decimal(number.numerator) / Decimal(number.denominator)).exp())


@cache
def probability(count: int, crowd: int, rate: Fraction) -> Fraction:
    return math.comb(crowd, count) * rate**count * (1 - rate) ** (crowd - count) if 0 <= count <= crowd else Fraction(0)


def theorem(k: int, rate: Fraction, epsilon: Fraction, crowds: int) -> Fraction:
    """Return the maximum of theorem 1 over the first so many n, term by term as it is printed."""
    gamma = (exp(epsilon) - 1 + rate) / exp(epsilon)
    first = math.ceil(k / gamma - 1)
    return max(
        sum((probability(j, n, rate) for j in range(math.floor(gamma * n) + 1, n + 1)), start=Fraction(0))
        for n in range(first, first + crowds)
    )


def outcomes(k: int, rate: Fraction, crowd: int) -> dict[int, Fraction]:
    """Return how often each number of rows is published of a crowd: those below k are none."""
    shown = {0: sum((probability(count, crowd, rate) for count in range(min(k, crowd + 1))), start=Fraction(0))}
    return shown | {count: probability(count, crowd, rate) for count in range(k, crowd + 1)}


def neighbours(k: int, rate: Fraction, crowds: int) -> Iterator[tuple[dict[int, Fraction], dict[int, Fraction]]]:
    """Yield what is published with and without one person, for each size of the crowd she is in."""
    for crowd in range(1, crowds + 1):
        yield outcomes(k, rate, crowd), outcomes(k, rate, crowd - 1)


def bad_probability(k: int, rate: Fraction, epsilon: Fraction, crowds: int) -> Fraction:
    """Return the δ of definition 2: how likely, at worst, is an outcome whose ratio leaves [e^−ε, e^ε]."""
    most, worst = exp(epsilon), Fraction(0)
    for with_row, without_row in neighbours(k, rate, crowds):
        bad = [
            count
            for count in with_row.keys() | without_row.keys()
            if with_row.get(count, 0) > most * without_row.get(count, 0)
            or without_row.get(count, 0) > most * with_row.get(count, 0)
        ]
        for table in (with_row, without_row):
            worst = max(worst, sum((table.get(count, Fraction(0)) for count in bad), start=Fraction(0)))
    return worst


def hockey_stick(k: int, rate: Fraction, epsilon: Fraction, crowds: int) -> Fraction:
    """Return the δ of (ε, δ)-differential privacy as it is usually defined."""
    most, worst = exp(epsilon), Fraction(0)
    for with_row, without_row in neighbours(k, rate, crowds):
        for one, other in ((with_row, without_row), (without_row, with_row)):
            excess = (share - most * other.get(count, Fraction(0)) for count, share in one.items())
            worst = max(worst, sum((each for each in excess if each > 0), start=Fraction(0)))
    return worst

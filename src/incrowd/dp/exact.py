"""Exact numbers: fractions that fit a machine word, and logarithms rounded to the safe side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal, localcontext
from fractions import Fraction

_DIGITS = 60


def round_down(number: Fraction, *, max_numerator: int, max_denominator: int) -> Fraction:
    """Return the largest fraction that is at most `number` and whose two parts fit.

    A walk down the Stern–Brocot tree, many steps at a time. Cost: the length of the continued fraction.

    >>> round_down(Fraction("3.14159265"), max_numerator=1000, max_denominator=1000)
    Fraction(688, 219)
    >>> round_down(Fraction("3.14159293"), max_numerator=1000, max_denominator=1000)
    Fraction(355, 113)
    """
    if number < 0:
        raise ValueError("only what is not negative is rounded")
    if number.numerator <= max_numerator and number.denominator <= max_denominator:
        return number
    x, y = number.numerator, number.denominator
    low, low_parts, high, high_parts = 0, 1, 1, 0  # low/low_parts <= number < high/high_parts, neighbours in the tree
    while True:
        steps = _most_steps(low, low_parts, high, high_parts, max_numerator, max_denominator)
        to_number = y * high - x * high_parts  # above 0
        steps = min(steps, (x * low_parts - y * low) // to_number)
        low, low_parts = low + steps * high, low_parts + steps * high_parts
        away = x * low_parts - y * low
        if away == 0:
            return Fraction(low, low_parts)
        steps_down = min(
            _most_steps(high, high_parts, low, low_parts, max_numerator, max_denominator), (to_number - 1) // away
        )
        high, high_parts = high + steps_down * low, high_parts + steps_down * low_parts
        if low + high > max_numerator or low_parts + high_parts > max_denominator:
            return Fraction(low, low_parts)


def _most_steps(start: int, start_parts: int, step: int, step_parts: int, max_top: int, max_parts: int) -> int:
    """Return how often `step` can be added to `start` before one of the two parts is too large."""
    limits = [(max_top - start) // step] if step else []
    if step_parts:
        limits.append((max_parts - start_parts) // step_parts)
    return min(limits)


def round_digits(number: Fraction, digits: int, rounding: str) -> Fraction:
    """Return a number with so many significant decimal digits, rounded as the decimal module calls it."""
    with localcontext() as context:
        context.prec, context.rounding = digits, rounding
        return Fraction(Decimal(number.numerator) / Decimal(number.denominator))


@contextmanager
def many_digits() -> Iterator[None]:
    """Compute with decimals so long that their rounding is far below anything that is told."""
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = _DIGITS, 10**12, -(10**12)
        yield


def as_decimal(number: Fraction) -> Decimal:
    """Return a fraction as a decimal of the current context."""
    return Decimal(number.numerator) / Decimal(number.denominator)

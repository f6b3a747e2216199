"""Exact numbers: what a user wrote, to the last digit."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TypeAlias

from incrowd.common.parameters import shown_value
from incrowd.errors import RecipeError

Exact: TypeAlias = Fraction | Decimal | int | float | str
"""A number as a user may write it; 0.1 and "0.1" and "1/10" are all one tenth."""

_LONGEST = 400
_LARGEST_EXPONENT = 300
"""Text such as 1e999999999 is refused before anybody computes that power; what is left fits a float."""
_SMALLEST = Fraction(1, 10**_LARGEST_EXPONENT)
_LARGEST_PART = 10 ** (2 * _LONGEST)
"""A fraction's numerator and denominator are below it: longer ones cannot be written any more."""


def as_exact(number: Exact, what: str) -> Fraction:
    """Return the number that the user wrote.

    >>> as_exact(0.1, "ε"), as_exact("1/3", "ε"), as_exact("1e-6", "δ")
    (Fraction(1, 10), Fraction(1, 3), Fraction(1, 1000000))
    """
    exact = number if isinstance(number, Fraction) else None if isinstance(number, bool) else _parsed(number)
    if exact is None:
        raise RecipeError(f"{what} is a number such as 0.1, 1/3 or 1e-6, not {shown_value(number)}.")
    too_long = max(abs(exact.numerator), exact.denominator) > _LARGEST_PART
    if too_long or (exact and not _SMALLEST <= abs(exact) <= 1 / _SMALLEST):
        raise RecipeError(f"{what} is a number of less than {_LARGEST_EXPONENT} digits before or after the point.")
    return exact


def _parsed(number: object) -> Fraction | None:
    try:
        text = str(number).strip()  # which Python refuses to do with whole numbers of thousands of digits
        if len(text) > _LONGEST:
            return None
        if "/" in text:
            return Fraction(text)
        decimal = Decimal(text)
    except (ValueError, ZeroDivisionError, InvalidOperation):
        return None
    if not decimal.is_finite() or abs(decimal.adjusted()) > 2 * _LONGEST:
        return None
    return Fraction(decimal)

"""Checks that models and methods make on their parameters."""

from __future__ import annotations

import math

import numpy as np

from incrowd.errors import RecipeError

LARGEST_WHOLE = 2**62
"""No count of rows is above it, and what is computed from one still fits 64 bits."""
_LONGEST_SHOWN = 80


def require_whole(owner: str, name: str, value: object, *, at_least: int, at_most: int | None = LARGEST_WHOLE) -> None:
    """Refuse anything but a whole number of at least `at_least`, and of at most `at_most` if there is such a bound."""
    if isinstance(value, bool) or not isinstance(value, int) or value < at_least:
        raise RecipeError(f"{owner}: {name} is a whole number of at least {at_least}, not {shown_value(value)}.")
    if at_most is not None and value > at_most:
        raise RecipeError(f"{owner}: {name} is a whole number of at most {at_most:,}, not {shown_value(value)}.")


def require_number(
    owner: str, name: str, value: object, *, above: float | None = None, at_least: float | None = None
) -> None:
    """Refuse anything but a finite number above, or at least, a bound."""
    number = _as_float(value)
    good = math.isfinite(number) and (above is None or number > above) and (at_least is None or number >= at_least)
    if not good:
        bound = "" if at_least is None else f" of at least {at_least:g}"
        bound = bound if above is None else f" above {above:g}"
        raise RecipeError(f"{owner}: {name} is a number{bound}, not {shown_value(value)}.")


def _as_float(value: object) -> float:
    """Return a number as a float; NaN for anything else, and for what no float holds."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def shown_value(value: object) -> str:
    """Return what a message says of a parameter that is wrong: how Python writes it, and not more than fits a line.

    >>> shown_value("x" * 1000)[:20], len(shown_value("x" * 1000))
    ("'xxxxxxxxxxxxxxxxxxx", 81)
    """
    try:
        text = repr(value)
    except Exception:  # a whole number of thousands of digits, or something that cannot be written
        return f"this {type(value).__name__}"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"

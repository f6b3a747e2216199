"""Checks that models and methods make on their parameters."""

from __future__ import annotations

import math

import numpy as np

from incrowd.errors import RecipeError


def require_whole(owner: str, name: str, value: object, *, at_least: int) -> None:
    """Refuse anything but a whole number of at least `at_least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < at_least:
        raise RecipeError(f"{owner}: {name} is a whole number of at least {at_least}, not {value!r}.")


def require_number(
    owner: str, name: str, value: object, *, above: float | None = None, at_least: float | None = None
) -> None:
    """Refuse anything but a finite number above, or at least, a bound."""
    number = float(value) if isinstance(value, (int, float, np.number)) and type(value) is not bool else math.nan
    good = math.isfinite(number) and (above is None or number > above) and (at_least is None or number >= at_least)
    if not good:
        bound = "" if at_least is None else f" of at least {at_least:g}"
        bound = bound if above is None else f" above {above:g}"
        raise RecipeError(f"{owner}: {name} is a number{bound}, not {value!r}.")

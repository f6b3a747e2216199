"""Checks that models and methods make on their parameters."""

from __future__ import annotations

from numbers import Real

from incrowd.errors import RecipeError


def require_whole(owner: str, name: str, value: object, *, at_least: int) -> None:
    """Refuse anything but a whole number of at least `at_least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < at_least:
        raise RecipeError(f"{owner}: {name} is a whole number of at least {at_least}, not {value!r}.")


def require_number(
    owner: str, name: str, value: object, *, above: float | None = None, least: float | None = None
) -> None:
    """Refuse anything but a finite number above, or at least, a bound."""
    good = isinstance(value, Real) and not isinstance(value, bool) and float("-inf") < float(value) < float("inf")
    if good and above is not None:
        good = float(value) > above  # type: ignore[arg-type]
    if good and least is not None:
        good = float(value) >= least  # type: ignore[arg-type]
    if not good:
        bound = f" above {above:g}" if above is not None else f" of at least {least:g}" if least is not None else ""
        raise RecipeError(f"{owner}: {name} is a number{bound}, not {value!r}.")

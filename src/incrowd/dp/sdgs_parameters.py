"""Parameters of sampling with suppression: from any three of ε, δ, k and β the fourth (Li, Qardaji & Su 2012).

The exact δ (`exact_suppression.py`) falls with k and with ε, and grows with β: a sample at a smaller rate is a sample
of a sample, which is at least as private. So all are found by halving. With `bound=delta_of`, the same is asked of
theorem 1, whose δ is a saw in β (`largest_rate.py`). Whatever is returned was put in and found to satisfy it. Cost: at
most some hundred evaluations of δ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Literal

from incrowd.common.exact import Exact
from incrowd.common.records import dataclass
from incrowd.dp.exact_suppression import exact_delta
from incrowd.dp.largest_rate import largest_possible_rate, largest_rate_by_theorem
from incrowd.dp.sampled_suppression import (
    SMALLEST_RATE,
    almost,
    as_delta,
    as_epsilon,
    as_rate,
    checked,
    chernoff_exponent,
    delta_of,
    least_epsilon,
    require_k,
)
from incrowd.errors import RecipeError

_OWNER = "plan"
_CLOSE = 1e-12
_ROUNDING = 1e-6
_BEYOND_ALL = 1000
"""An ε with which only whole crowds show."""
_MOST_EXPECTED_FAILURES = Fraction(1, 10)

Bound = Callable[[int, Exact, Exact], float]
"""A δ for k, β and ε: `exact_delta`, or `delta_of` of theorem 1."""


@dataclass(frozen=True)
class Plan:
    """Four that go together: sampling at `rate` and withholding what is seen less than `k` times is (ε, δ)-private."""

    epsilon: float
    delta: float
    k: int
    rate: float
    found: Literal["epsilon", "delta", "k", "rate"]
    """Which of the four was asked for."""
    by_theorem_1: float
    """What theorem 1 gives in its place: a larger ε, δ or k, or a smaller rate; infinite where it gives none."""


def plan(
    *, epsilon: Exact | None = None, delta: Exact | None = None, k: int | None = None, rate: Exact | None = None
) -> Plan:
    """Return the one parameter that is not given: the smallest ε, δ or k, or the largest rate.

    >>> found = plan(epsilon=1, delta="1e-6", rate=0.1)
    >>> found.k, found.by_theorem_1
    (8, 9)
    """
    found: Literal["epsilon", "delta", "k", "rate"]
    if k is None and epsilon is not None and delta is not None and rate is not None:
        k, found = smallest_k(epsilon=epsilon, delta=delta, rate=rate), "k"
        by_theorem: float = smallest_k(epsilon=epsilon, delta=delta, rate=rate, bound=delta_of)
    elif rate is None and epsilon is not None and delta is not None and k is not None:
        rate, found = largest_rate(epsilon=epsilon, delta=delta, k=k), "rate"
        by_theorem = largest_rate_by_theorem(epsilon=epsilon, delta=delta, k=k)
    elif epsilon is None and delta is not None and k is not None and rate is not None:
        epsilon, found = smallest_epsilon(delta=delta, k=k, rate=rate), "epsilon"
        by_theorem = smallest_epsilon(delta=delta, k=k, rate=rate, bound=delta_of)
    elif delta is None and epsilon is not None and k is not None and rate is not None:
        found, by_theorem = "delta", delta_of(k, rate, epsilon)
    else:
        given = sum(value is not None for value in (epsilon, delta, k, rate))
        raise RecipeError(f"{_OWNER}: three of epsilon, delta, k and rate are given, not {given}.")
    told = exact_delta(k, rate, epsilon) if delta is None else float(as_delta(delta))
    return Plan(float(as_epsilon(epsilon)), told, k, float(as_rate(rate)), found, by_theorem)


def smallest_k(*, epsilon: Exact, delta: Exact, rate: Exact, bound: Bound = exact_delta) -> int:
    """Return the smallest k that gives (ε, δ) at a sampling rate.

    >>> smallest_k(epsilon=1, delta="1e-6", rate=0.3)
    17
    >>> smallest_k(epsilon=1, delta="1e-6", rate=0.3, bound=delta_of)
    22
    """
    (beta, eps), allowed = checked(1, rate, epsilon), almost(delta)
    enough = max(1, math.ceil((_ROUNDING - math.log(allowed)) / chernoff_exponent(beta, eps)) + 1)
    too_small = 0
    while enough - too_small > 1:
        middle = (enough + too_small) // 2
        if bound(middle, beta, eps) <= allowed:
            enough = middle
        else:
            too_small = middle
    return enough


def smallest_epsilon(*, delta: Exact, k: int, rate: Exact, bound: Bound = exact_delta) -> float:
    """Return the smallest ε that goes with δ, rounded up to about twelve digits; it is never below −ln(1−β).

    >>> smallest_epsilon(delta="4.08e-14", k=20, rate=0.1) < 1
    True
    """
    require_k(k)
    beta, allowed = as_rate(rate), almost(delta)
    whole_crowd = bound(k, beta, _BEYOND_ALL)
    if whole_crowd > allowed:
        raise RecipeError(
            f"{_OWNER}: no ε is enough for that δ with k = {k} at a sampling rate of {float(beta):g}: a crowd of {k} "
            f"is in the sample as a whole with probability {whole_crowd:.3g}.  Hint: raise k, or sample less."
        )
    least = least_epsilon(beta)

    def enough(epsilon: float) -> bool:
        return bound(k, beta, epsilon) <= allowed

    if enough(least):
        return least
    most = max(2 * least, 1.0)
    while not enough(most):
        most *= 2
    return _halve(most, least, enough)


def largest_rate(*, epsilon: Exact, delta: Exact, k: int) -> float:
    """Return the largest sampling rate at which k gives (ε, δ), rounded down; it is at most 1 − e^−ε.

    >>> 0.3 <= largest_rate(epsilon=1, delta="1e-6", k=17) < 0.31
    True
    """
    require_k(k)
    eps, allowed = as_epsilon(epsilon), almost(delta)

    def fits(rate: float) -> bool:
        return exact_delta(k, rate, eps) <= allowed

    rate = too_large = largest_possible_rate(eps)
    while not fits(rate):
        too_large, rate = rate, rate / 2
        if rate < SMALLEST_RATE:
            raise RecipeError(f"{_OWNER}: no sampling rate is small enough for that δ with k = {k}.  Hint: raise k.")
    return _halve(rate, too_large, fits)


def _halve(good: float, bad: float, fits: Callable[[float], bool]) -> float:
    """Return a number that fits and is within 1e-12 of one that does not."""
    while abs(good - bad) > _CLOSE * good:
        middle = (good + bad) / 2
        if fits(middle):
            good = middle
        else:
            bad = middle
    return good


def warn_of_delta(delta: Exact, rows: int) -> str | None:
    """Return what to tell the user if δ is too large for a table of so many rows; nothing if it is not.

    The promise may fail for each person with probability δ, and the table of a mechanism that publishes everybody with
    that probability shows δ·rows of them (Li, Qardaji & Su 2012, section 6).

    >>> print(warn_of_delta("1e-4", 30_000))
    δ = 0.0001 is too large for 30,000 rows: the promise may fail for 3 of them.  Hint: keep δ well below 3.3e-05.
    >>> warn_of_delta("1e-6", 30_000)
    """
    exact = as_delta(delta)
    if rows < 1 or exact * rows < _MOST_EXPECTED_FAILURES:
        return None
    return (
        f"δ = {float(exact):g} is too large for {rows:,} rows: the promise may fail for {float(exact * rows):.2g} of "
        f"them.  Hint: keep δ well below {1 / rows:.2g}."
    )

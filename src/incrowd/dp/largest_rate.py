"""The largest sampling rate at which suppression below k gives (ε, δ) by theorem 1 of Li, Qardaji & Su (2012).

By the exact δ it is found by halving (`sdgs_parameters.py`). By theorem 1, as a function of the rate, δ is a saw: it
rises, and drops wherever a crowd's γn passes a whole number. The search comes down from the top, tooth by tooth, and
skips only rates at which some crowd shows too easily. Cost: some ten evaluations of theorem 1, and a few dozen tails
for each.
"""

from __future__ import annotations

import math
from fractions import Fraction

from incrowd.common.exact import Exact
from incrowd.dp.binomial import log_tail
from incrowd.dp.exact import as_decimal, many_digits
from incrowd.dp.sampled_suppression import (
    SMALLEST_RATE,
    almost,
    as_delta,
    as_epsilon,
    as_rate,
    least_epsilon,
    peak_crowd,
    require_k,
    worst_case,
)
from incrowd.errors import RecipeError

_OWNER = "plan"
_CLOSE = 1e-12


def largest_rate_by_theorem(*, epsilon: Exact, delta: Exact, k: int) -> float:
    """Return the largest sampling rate at which k gives (ε, δ); it is at most 1 − e^−ε.

    A smaller rate may miss δ by a little: put it into theorem 1 before using it.

    >>> 0.1 <= largest_rate_by_theorem(epsilon=1, delta="4.08e-14", k=20) < 0.101
    True
    """
    require_k(k)
    eps, allowed, log_delta = as_epsilon(epsilon), almost(delta), math.log(as_delta(delta))
    rate = _top_of_teeth(k, eps, log_delta, largest_possible_rate(eps))
    while True:
        worst = worst_case(k, rate, eps)
        if worst.delta <= allowed:
            return rate
        # Down to the rate at which this crowd just fits. Nothing in between does: as the rate falls, the crowd of the
        # same peak can only grow, and a larger one shows more easily.
        rate = min(_fitting_rate(worst.crowd, worst.seen, log_delta), rate) * (1 - _CLOSE)
        if rate < SMALLEST_RATE:
            raise RecipeError(f"{_OWNER}: no sampling rate is small enough for that δ with k = {k}.  Hint: raise k.")


def largest_possible_rate(epsilon: Fraction) -> float:
    """Return 1 − e^−ε, rounded down."""
    rate = min(-math.expm1(-float(epsilon)), math.nextafter(1.0, 0.0))
    while least_epsilon(rate) > epsilon:
        rate = math.nextafter(rate, 0.0)
    return rate


def _enters(epsilon: Fraction, seen: int, crowd: int) -> float:
    """Return the rate from which on the crowd of a peak is at most this: where γ·(crowd + 1) = seen."""
    with many_digits():
        return float(1 - (1 - as_decimal(Fraction(seen, crowd + 1))) * as_decimal(epsilon).exp())


def _top_of_teeth(k: int, epsilon: Fraction, log_delta: float, largest: float) -> float:
    """Return a rate above which nothing up to the largest fits, because the peak at k does not.

    Each of its crowds is least likely to show at the lowest rate at which it is the worst crowd; these lowest
    probabilities grow as crowds get smaller and rates larger.
    """
    fits = math.floor(k / -math.expm1(-float(epsilon))) + 1  # no crowd is larger at any rate above 0
    small = peak_crowd(k, as_rate(largest), epsilon) - 1
    while fits - small > 1:
        middle = (fits + small) // 2
        if log_tail(middle, max(_enters(epsilon, k, middle), 0.0), k) <= log_delta:
            fits = middle
        else:
            small = middle
    return min(_enters(epsilon, k, fits - 1), largest)


def _fitting_rate(crowd: int, seen: int, log_delta: float) -> float:
    """Return the rate at which `seen` or more of a crowd are sampled with this probability, rounded down."""
    high = log_delta / seen
    low = high - math.log(crowd)
    while high - low > _CLOSE / 4:
        middle = (low + high) / 2
        if log_tail(crowd, math.exp(middle), seen) <= log_delta:
            low = middle
        else:
            high = middle
    return math.exp(low)

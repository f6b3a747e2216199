"""How many rows that are alone in a sample are alone in its population too: estimates from the sample itself.

Pitman: groups are taken for classes of a Pitman-Yor process, whose two parameters are found by maximum likelihood
(Hoshino 2001). A row that is alone stays alone if none of the people that the sample lacks joins it, and that has a
closed form. Zayatz: the population's classes are taken to be as large as the sample's, and Bayes' rule tells which of
them a lone row comes from (Zayatz 1991). Dankar, El Emam, Neisa & Roffey (2012) compared estimators on real tables and
found Pitman's best for samples of up to a tenth of the population; for larger ones they take the smaller of Zayatz' and
that of slide negative binomials (`slide_negative_binomial.py`).

Cost: some thousand steps over the distinct sizes of groups, never over groups or rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

_GOLDEN = (math.sqrt(5) - 1) / 2
_NEAR_ZERO = 1e-6
_STEPS = 40


def pitman_stays_alone(sizes: NDArray[np.int64], fraction: float) -> float:
    """Return the probability that a row that is alone in a sample is alone in the population, by Pitman's model.

    >>> round(pitman_stays_alone(np.array([1, 1, 1, 2, 5, 10]), 0.1), 3)
    0.111
    """
    rows = float(sizes.sum())
    if len(sizes) == rows:
        return 1.0  # everybody differs, and nothing tells how the population could be otherwise
    alpha, theta = pitman_parameters(sizes)
    everybody = rows / fraction
    rises = _log_rise(theta + everybody, alpha - 1) - _log_rise(theta + rows, alpha - 1)
    return min(math.exp(rises), 1.0)


def zayatz_stays_alone(sizes: NDArray[np.int64], fraction: float) -> float:
    """Return the probability that a row that is alone in a sample is alone in the population, by Zayatz' estimate.

    >>> round(zayatz_stays_alone(np.array([1, 1, 1, 2, 5, 10]), 0.5), 3)
    0.693
    """
    distinct, counts = np.unique(sizes, return_counts=True)
    # A class of so many people leaves just one in the sample.
    leaves_one = counts * distinct * fraction * (1 - fraction) ** (distinct - 1.0)
    alone = float(leaves_one[distinct == 1].sum())
    return alone / float(leaves_one.sum()) if alone else 0.0


def pitman_parameters(sizes: NDArray[np.int64]) -> tuple[float, float]:
    """Return the α (0 ≤ α < 1) and θ (above -α) under which groups of these sizes are likeliest."""
    distinct, counts = np.unique(sizes, return_counts=True)
    rows, groups = float(sizes.sum()), float(len(sizes))

    def likeliest_theta(alpha: float) -> float:
        # The slope in θ is decreasing where it crosses zero; θ + α is searched on a logarithmic scale.
        def slope(offset: float) -> float:
            theta = math.exp(offset) - alpha
            by_group = (_digamma(theta / alpha + groups) - _digamma(theta / alpha + 1)) / alpha
            return by_group - (_digamma(theta + rows) - _digamma(theta + 1))

        return math.exp(_crossing(slope, math.log(1e-9), 2 * math.log(rows) + 5)) - alpha

    def likelihood(alpha: float) -> float:
        theta = likeliest_theta(alpha)
        by_group = (groups - 1) * math.log(alpha) + _log_ratio(theta / alpha + 1, theta / alpha + groups)
        by_size = math.fsum(
            count * _log_ratio(1 - alpha, size - alpha)
            for size, count in zip(distinct.tolist(), counts.tolist(), strict=True)
        )
        return by_group - _log_ratio(theta + 1, theta + rows) + by_size

    alpha = highest(likelihood, _NEAR_ZERO, 1 - _NEAR_ZERO)
    return alpha, likeliest_theta(alpha)


def highest(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function with one peak is highest, by golden sections."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(_STEPS):
        if at_left < at_right:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(right)
        else:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(left)
    return (low + high) / 2


def _crossing(slope: Callable[[float], float], low: float, high: float) -> float:
    """Return where a slope falls through zero, by halving; an end where it does not."""
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return (low + high) / 2


def _digamma(x: float) -> float:
    shift = 0.0
    while x < 10:
        shift -= 1 / x
        x += 1
    square = 1 / (x * x)
    return shift + math.log(x) - 0.5 / x - square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))


def _log_ratio(low: float, high: float) -> float:
    """Return log Γ(high) - log Γ(low)."""
    return math.lgamma(high) - math.lgamma(low)


def _log_rise(x: float, by: float) -> float:
    """Return log Γ(x + by) - log Γ(x) for a step of at most 1; the difference of two large numbers loses digits."""
    return by * math.log(x) + by * (by - 1) / (2 * x) if x > 1e6 else math.lgamma(x + by) - math.lgamma(x)

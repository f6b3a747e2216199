"""Binomial probabilities by their logarithms, to about twelve digits even where they are far below 1e-300.

Single probabilities after Loader (2000), "Fast and Accurate Computation of Binomial Probabilities": differences of
large logarithms of factorials, which would cost most digits, never occur. Tails are summed from their largest term.
Cost of a tail: a few terms where it is steep, some multiples of √n near the middle.
"""

from __future__ import annotations

import math

_HALF_LOG_2_PI = 0.5 * math.log(2 * math.pi)
_EXACT_FACTORIALS = 20
_NEGLIGIBLE = 2.0**-60


def log_probability(number: int, rate: float, count: int) -> float:
    """Return the logarithm of P[Bin(number, rate) = count]."""
    if not 0 <= count <= number:
        return -math.inf
    if rate <= 0 or rate >= 1:
        return 0.0 if count == (number if rate >= 1 else 0) else -math.inf
    if count == 0:
        return number * math.log1p(-rate)
    if count == number:
        return number * math.log(rate)
    others = number - count
    return (
        0.5 * math.log(number / count / others)
        - _HALF_LOG_2_PI
        + _stirling_error(number)
        - _stirling_error(count)
        - _stirling_error(others)
        - _deviance(count, number * rate)
        - _deviance(others, number * (1 - rate))
    )


def log_tail(number: int, rate: float, count: int) -> float:
    """Return the logarithm of P[Bin(number, rate) ≥ count].

    >>> round(math.exp(log_tail(26, 0.3, 20)), 11)
    1.07224e-06
    """
    if count <= 0:
        return 0.0
    if count > number or rate <= 0:
        return -math.inf
    if rate >= 1:
        return 0.0
    if count > number * rate:
        return min(log_probability(number, rate, count) + math.log(_falling_sum(number, rate, count)), 0.0)
    below = _log_lower_tail(number, rate, count - 1)
    return math.log1p(-math.exp(below)) if below < 0 else -math.inf


def _log_lower_tail(number: int, rate: float, count: int) -> float:
    """Return the logarithm of P[Bin(number, rate) ≤ count], for a count below the mean."""
    mirrored = number - count
    start = log_probability(number, rate, count)
    return min(start + math.log(_falling_sum(number, 1 - rate, mirrored)), 0.0)


def _falling_sum(number: int, rate: float, count: int) -> float:
    """Return P[Bin ≥ count]/P[Bin = count], for a count above the mean, where each term is smaller than the last."""
    odds = rate / (1 - rate)
    total = term = 1.0
    while count < number:
        term *= (number - count) / (count + 1) * odds
        total += term
        count += 1
        if term < _NEGLIGIBLE * total:
            break
    return total


def _stirling_error(number: int) -> float:
    """Return log(number!) minus Stirling's formula for it."""
    if number <= _EXACT_FACTORIALS:
        return math.log(math.factorial(number)) - ((number + 0.5) * math.log(number) - number + _HALF_LOG_2_PI)
    square = number * number
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / number


def _deviance(count: int, mean: float) -> float:
    """Return count·log(count/mean) + mean − count without losing digits where the two are close."""
    difference = count - mean
    if abs(difference) < 0.1 * (count + mean):
        ratio = difference / (count + mean)
        total, power, place = difference * ratio, 2 * count * ratio, 1
        while True:
            power *= ratio * ratio
            longer = total + power / (2 * place + 1)
            if longer == total:
                return total
            total, place = longer, place + 1
    return count * math.log(count / mean) + mean - count


def proportion_bounds(count: int, number: int, error: float) -> tuple[float, float]:
    """Return Clopper and Pearson's bounds on a proportion, each wrong with probability at most `error`.

    >>> [round(bound, 4) for bound in proportion_bounds(3, 10, 0.025)]
    [0.0667, 0.6525]
    """
    return _lower_bound(count, number, error), 1 - _lower_bound(number - count, number, error)


def _lower_bound(count: int, number: int, error: float) -> float:
    if count == 0:
        return 0.0
    low, high, target = 0.0, count / number, math.log(error)
    for _ in range(60):
        middle = (low + high) / 2
        if log_tail(number, middle, count) <= target:
            low = middle
        else:
            high = middle
    return low

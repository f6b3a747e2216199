"""How far the sum of two independent Laplace variables lies from 0: for answers that are made of two noisy numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from incrowd.common.arrays import Floats

_ALIKE = 1e-6
_STEPS = 80


def tail(first: Floats, second: Floats) -> Callable[[Floats], Floats]:
    """Return a function that tells how likely the sum of Laplace variables with these scales is further from 0 than x.

    By partial fractions of 1/((1 + a²t²)(1 + b²t²)): (a²·e^(−x/a) − b²·e^(−x/b))/(a² − b²), and where both are alike
    e^(−x/a)·(1 + x/(2a)).
    """
    large, small = np.maximum(first, second), np.minimum(first, second)
    apart = small < large * (1 - _ALIKE)
    some = np.maximum(small, large * 1e-12)
    gap = np.where(apart, large**2 - some**2, 1.0)

    def beyond(distance: Floats) -> Floats:
        far = np.exp(-distance / large)
        one = (large**2 * far - some**2 * np.exp(-distance / some)) / gap
        return np.asarray(np.where(apart, one, far * (1 + distance / (2 * large))))

    return beyond


def half_widths(first: Floats, second: Floats, confidence: float) -> Floats:
    """Return how far the sum is from 0 at most, with this probability.

    >>> half_widths(np.array([1.0]), np.array([0.0]), 0.95).round(3)
    array([2.996])
    """
    low, high = np.zeros(np.shape(first)), 100.0 * (first + second)
    beyond = tail(first, second)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if ((middle == low) | (middle == high)).all():  # there is no number in between
            break
        outside = beyond(middle) > 1 - confidence
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    return high

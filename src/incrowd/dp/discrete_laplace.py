"""The exact discrete Laplace distribution, P[x] ∝ exp(−|x|/scale) on the whole numbers: noise for counts.

Also called two-sided geometric (Ghosh, Roughgarden & Sundararajan 2009). Drawn as in Canonne, Kamath & Steinke (2020),
algorithm 2, on 64-bit whole numbers. No floating-point number is near a draw: those of the textbook Laplace give the
true count away in their low bits (Mironov 2012). Cost: below a second for a million draws, some 50 bytes each.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Ints
from incrowd.common.randomness import below
from incrowd.dp.bernoulli import count_exp_one, happens_exp_below_one
from incrowd.dp.exact import round_down
from incrowd.errors import RecipeError

_LARGEST_PART = 2**40
"""Bound of a scale's numerator and denominator. What is drawn stays below 2**63 unless a draw of probability
exp(−2**22) comes up."""
LARGEST_COUNT = 2**62
_DRAWS_AT_ONCE = 1 << 18
"""Draws are made in pieces of this size: they fit the cache, and millions do not fill the memory."""


@lru_cache(maxsize=1024)  # many counts are given noise of the same scale
def noise_scale(sensitivity: Fraction, epsilon: Fraction) -> Fraction:
    """Return sensitivity/ε, or the next larger fraction whose parts fit: ε is rounded down, never up.

    What is lost is below one part in 2**39 as long as ε is between 2**-39 and 2**39 times the sensitivity.

    >>> noise_scale(Fraction(2), Fraction("0.1"))
    Fraction(20, 1)
    """
    if sensitivity <= 0 or epsilon <= 0:
        raise ValueError("sensitivity and ε are above 0")
    used = round_down(epsilon / sensitivity, max_numerator=_LARGEST_PART, max_denominator=_LARGEST_PART)
    if used == 0:
        raise RecipeError(f"ε is so small that noise for it would not fit 64 bits: {float(epsilon):g}.")
    return 1 / used


def discrete_laplace(rng: np.random.Generator, scale: Fraction, size: int) -> Ints:
    """Return independent draws. Numerator and denominator of the scale are at most 2**40; `noise_scale` sees to that.

    >>> from incrowd.common.randomness import randomness
    >>> discrete_laplace(randomness(seed=1), Fraction(10), 5).dtype
    dtype('int64')
    """
    if scale <= 0 or max(scale.numerator, scale.denominator) > _LARGEST_PART:
        raise ValueError("a scale is above 0 and its parts are at most 2**40.  Hint: make it with noise_scale.")
    draws = np.empty(size, dtype=np.int64)
    filled = 0
    while filled < size:
        made = _draw_some(rng, scale.numerator, scale.denominator, min(size - filled, _DRAWS_AT_ONCE))
        draws[filled : filled + len(made)] = made[: size - filled]
        filled += len(made)
    return draws


def _draw_some(rng: np.random.Generator, top: int, bottom: int, wanted: int) -> Ints:
    """Try as often as should give about so many draws; return those that came to one."""
    rests = below(rng, top, wanted + wanted // 2 + 16)
    rests = rests[happens_exp_below_one(rng, rests, top)]
    # rest + top·count is geometric with ratio exp(−1/top); `bottom` of its steps are one of ratio exp(−bottom/top)
    sizes = (rests + top * count_exp_one(rng, len(rests))) // bottom
    negative = below(rng, 2, len(sizes)) == 1
    once = ~(negative & (sizes == 0))  # there is one zero, not two
    return np.asarray(np.where(negative, -sizes, sizes)[once])


def noisy_counts(
    rng: np.random.Generator, counts: NDArray[np.int64], *, epsilon: Fraction, sensitivity: Fraction = Fraction(1)
) -> Ints:
    """Return counts with noise of scale sensitivity/ε.

    `sensitivity` is by how much one person changes all of these counts together: 1 if everybody is in one of them.
    """
    if counts.size and (int(counts.max()) > LARGEST_COUNT or int(counts.min()) < -LARGEST_COUNT):
        raise ValueError("counts above 2**62 leave no room for noise")
    noise = discrete_laplace(rng, noise_scale(sensitivity, epsilon), counts.size)
    return np.asarray(counts + noise.reshape(counts.shape), dtype=np.int64)


def variance(scale: Fraction) -> float:
    """Return the variance of the noise: a little below 2·scale², for small scales much below.

    >>> round(variance(Fraction(10)), 4)
    199.8334
    """
    half = 0.5 / float(scale)
    return 0.5 / math.sinh(half) ** 2 if half < 300 else 0.0


def half_width(scale: Fraction, confidence: float) -> int:
    """Return the smallest w such that noise is within ±w with at least this probability.

    >>> half_width(Fraction(10), 0.95)
    30
    """
    if not 0 < confidence < 1:
        raise ValueError("a confidence is between 0 and 1")
    ratio = math.exp(-1 / float(scale))
    # P[|X| > w] = 2 ratio^(w+1) / (1 + ratio)
    return max(0, math.ceil(float(scale) * math.log(2 / ((1 + ratio) * (1 - confidence))) - 1))

"""The exact discrete Gaussian distribution, P[x] ∝ exp(−x²/(2σ²)) on the whole numbers: noise for many counts.

Drawn as in Canonne, Kamath & Steinke (2020), algorithm 3: a draw y of the discrete Laplace distribution of scale τ is
kept with probability exp(−(|y| − σ²/τ)²/(2σ²)). Here τ = σ, a fraction t/q, so that this is exp(−(q|y| − t)²/(2t²)),
and nothing but whole numbers is near a draw. One person who changes one count by one pays 1/(2σ²) of zero-concentrated
privacy (their theorem 4), for any σ. Cost: about twice that of the discrete Laplace distribution.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Bools, Ints
from incrowd.dp.bernoulli import happens_exp
from incrowd.dp.discrete_laplace import LARGEST_COUNT, discrete_laplace
from incrowd.errors import RecipeError

_LARGEST_PART = 2**24
"""Bound of σ's numerator: squares of what is drawn fit 62 bits, unless a draw of probability exp(−120) comes up."""
_FINEST = 64
"""σ is a whole number of so many parts of one, or of fewer where it is large."""
_LARGEST_ROOT = 2**31 - 1
_DRAWS_AT_ONCE = 1 << 18


def gaussian_deviation(rho: Fraction) -> Fraction:
    """Return 1/√(2ρ), or the next larger fraction whose parts fit: no more than ρ is ever spent.

    >>> gaussian_deviation(Fraction(1, 200))
    Fraction(10, 1)
    """
    if rho <= 0:
        raise ValueError("ρ is above 0")
    parts = _FINEST
    while parts:
        root = _root_above(Fraction(parts * parts) / (2 * rho))
        if root <= _LARGEST_PART:
            return Fraction(root, parts)
        parts //= 2
    raise RecipeError(f"ρ is so small that noise for it would not fit 64 bits: {float(rho):g}.")


def price(deviation: Fraction) -> Fraction:
    """Return the ρ of one count that one person changes by one.

    >>> price(Fraction(10))
    Fraction(1, 200)
    """
    return 1 / (2 * deviation**2)


def discrete_gaussian(rng: np.random.Generator, deviation: Fraction, size: int) -> Ints:
    """Return independent draws; `gaussian_deviation` makes a σ that fits.

    >>> from incrowd.common.randomness import randomness
    >>> discrete_gaussian(randomness(seed=1), Fraction(10), 5).dtype
    dtype('int64')
    """
    if deviation <= 0 or deviation.numerator > _LARGEST_PART or deviation.denominator > _FINEST:
        raise ValueError("σ is above 0 and its parts fit.  Hint: make it with gaussian_deviation.")
    draws = np.empty(size, dtype=np.int64)
    filled = 0
    while filled < size:
        wanted = min(size - filled, _DRAWS_AT_ONCE)
        tried = discrete_laplace(rng, deviation, wanted + wanted // 2 + 16)
        made = tried[_kept(rng, tried, deviation)]
        draws[filled : filled + len(made)] = made[: size - filled]
        filled += len(made)
    return draws


def _kept(rng: np.random.Generator, tried: Ints, deviation: Fraction) -> Bools:
    """Return draws that are true with probability exp(−(q|y| − t)²/(2t²)), one for each y."""
    top, parts = deviation.numerator, deviation.denominator
    away = np.abs(np.abs(tried) * parts - top)
    below = 2 * top * top
    if int(away.max(initial=0)) <= _LARGEST_ROOT:
        whole, rest = np.divmod(away * away, below)
    else:  # nobody will ever see this, and it is exact all the same
        both = [divmod(int(one) ** 2, below) for one in away.tolist()]
        whole = np.array([min(one, 2**62) for one, _ in both], dtype=np.int64)
        rest = np.array([one for _, one in both], dtype=np.int64)
    return happens_exp(rng, whole, rest, below)


def gaussian_counts(rng: np.random.Generator, counts: NDArray[np.int64], deviation: Fraction) -> Ints:
    """Return counts with noise; everybody is in one of them."""
    if counts.size and (int(counts.max()) > LARGEST_COUNT or int(counts.min()) < -LARGEST_COUNT):
        raise ValueError("counts above 2**62 leave no room for noise")
    noise = discrete_gaussian(rng, deviation, counts.size)
    return np.asarray(counts + noise.reshape(counts.shape), dtype=np.int64)


def gaussian_variance(deviation: Fraction) -> float:
    """Return the variance of the noise: σ², or a little less where σ is below one.

    >>> gaussian_variance(Fraction(10))
    100.0
    """
    spread = float(deviation) ** 2
    if deviation > 4:  # they differ by less than any digit that is told
        return spread
    points = np.arange(-64, 65)
    weights = np.exp(-(points**2) / (2 * spread))
    return float((weights * points**2).sum() / weights.sum())


def _root_above(number: Fraction) -> int:
    """Return the smallest whole number whose square is at least a number."""
    least = -(-number.numerator // number.denominator)
    root = math.isqrt(least)
    return root if root * root >= least else root + 1

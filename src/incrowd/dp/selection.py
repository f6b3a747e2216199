"""Choose one of many candidates under ε-differential privacy: the better its score, the likelier.

The exponential mechanism (McSherry & Talwar 2007) picks with probability ∝ exp(ε·score/(2Δ)); permute-and-flip
(McKenna & Sheldon 2020) never has a larger expected loss and costs as much privacy. Both are exact: scores are whole
numbers of a unit, and chance is `happens_exp`. Cost: one or a few passes over the candidates, vectorized.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Ints
from incrowd.common.randomness import below, permutation
from incrowd.dp.bernoulli import happens_exp
from incrowd.dp.exact import round_down
from incrowd.errors import RecipeError

Gaps = NDArray[np.uint64]

_PRODUCT_BITS = 62
"""Numerator times denominator of the weight per unit fits in so many bits."""
_LARGEST_WHOLE = 2**62
_TRIES_AT_ONCE = 1 << 16


def exponential_mechanism(
    rng: np.random.Generator,
    scores: NDArray[np.int64],
    *,
    epsilon: Fraction,
    sensitivity: Fraction,
    unit: Fraction = Fraction(1),
    monotone: bool = False,
) -> int:
    """Return the place of one candidate, picked with probability ∝ exp(ε·score/(2Δ)).

    A score is `scores[i]` times `unit`; `sensitivity` (Δ) is by how much one person can change any score, in the same
    terms as score·unit. If one more person can only raise scores, or only lower them, they are `monotone` and the
    factor 2 is not needed.

    Candidates are drawn evenly and kept with probability exp(−ε·(best − score)/(2Δ)) until one is.
    """
    gaps = _gaps(scores)
    weight = weight_per_unit(epsilon=epsilon, sensitivity=sensitivity, unit=unit, monotone=monotone)
    tries = 64
    while True:
        tried = below(rng, len(gaps), tries)
        kept = np.flatnonzero(_stands(rng, gaps[tried], weight))
        if kept.size:
            return int(tried[kept[0]])
        tries = min(2 * tries, _TRIES_AT_ONCE)


def permute_and_flip(
    rng: np.random.Generator,
    scores: NDArray[np.int64],
    *,
    epsilon: Fraction,
    sensitivity: Fraction,
    unit: Fraction = Fraction(1),
    monotone: bool = False,
) -> int:
    """Return the place of one candidate: in random order, the first that is kept. Parameters as above.

    Each is kept with probability exp(−ε·(best − score)/(2Δ)), which the best always is.
    """
    gaps = _gaps(scores)
    weight = weight_per_unit(epsilon=epsilon, sensitivity=sensitivity, unit=unit, monotone=monotone)
    order = permutation(rng, len(gaps))
    first, tries = 0, 64
    while True:
        tried = order[first : first + tries]
        kept = np.flatnonzero(_stands(rng, gaps[tried], weight))
        if kept.size:
            return int(tried[kept[0]])
        first, tries = first + tries, min(2 * tries, _TRIES_AT_ONCE)


def to_units(scores: NDArray[np.float64], unit: Fraction) -> Ints:
    """Return scores as whole numbers of a unit, rounded down.

    Two scores that differ by Δ can come out Δ + unit apart: that sum is then the sensitivity. It also covers what
    floating-point arithmetic did to the scores, as long as that is far below the unit.

    >>> to_units(np.array([0.25, -0.3]), Fraction(1, 10))
    array([ 2, -3])
    """
    if unit <= 0:
        raise ValueError("a unit is above 0")
    scaled = np.floor(np.asarray(scores, dtype=np.float64) / float(unit))
    if not (np.abs(scaled) < _LARGEST_WHOLE).all():  # also false for what is not a number
        raise ValueError("a score is not finite, or too large for its unit")
    return scaled.astype(np.int64)


@lru_cache(maxsize=1024)  # a search asks for the same weight at every choice
def weight_per_unit(*, epsilon: Fraction, sensitivity: Fraction, unit: Fraction, monotone: bool) -> Fraction:
    """Return how fast a candidate's weight falls with its score: ε·unit/(2Δ), or the next smaller fraction that fits.

    Rounding down spends less of ε, by less than one part in 2**29.

    >>> weight_per_unit(epsilon=Fraction("0.1"), sensitivity=Fraction(1), unit=Fraction(1), monotone=False)
    Fraction(1, 20)
    """
    if epsilon <= 0 or sensitivity <= 0 or unit <= 0:
        raise ValueError("ε, sensitivity and unit are above 0")
    exact = epsilon * unit / sensitivity / (1 if monotone else 2)
    shift = (exact.numerator.bit_length() - exact.denominator.bit_length()) // 2
    top_bits = min(max(_PRODUCT_BITS // 2 + shift, 1), _PRODUCT_BITS - 1)
    weight = round_down(exact, max_numerator=2**top_bits, max_denominator=2 ** (_PRODUCT_BITS - top_bits))
    if weight == 0:
        raise RecipeError(f"ε is so small that a choice by it would not fit 64 bits: {float(epsilon):g}.")
    return weight


def _gaps(scores: NDArray[np.int64]) -> Gaps:
    """Return how far each score is below the best; as unsigned numbers, for the distance may need all 64 bits."""
    if not len(scores):
        raise ValueError("there is nothing to choose from")
    if scores.dtype.kind != "i":
        raise ValueError("scores are whole numbers of a unit.  Hint: make them with to_units.")
    whole = scores.astype(np.int64)
    return np.asarray(whole.max().astype(np.uint64) - whole.astype(np.uint64))


def _stands(rng: np.random.Generator, gaps: Gaps, weight: Fraction) -> NDArray[np.bool_]:
    """Return draws that are true with probability exp(−weight·gap)."""
    whole, rest = _exponents(gaps, weight)
    return happens_exp(rng, whole, rest, weight.denominator)


def _exponents(gaps: Gaps, weight: Fraction) -> tuple[Ints, Ints]:
    """Return weight·gap as whole numbers and what is left over, in parts of weight's denominator.

    Whoever gets through 2**62 draws of exp(−1) need not go on: nobody does.
    """
    top, parts = np.uint64(weight.numerator), np.uint64(weight.denominator)
    rounds = np.minimum(gaps // parts, np.uint64(_LARGEST_WHOLE // weight.numerator))
    left = (gaps % parts) * top  # below the product of weight's parts, which fits
    return (rounds * top + left // parts).astype(np.int64), (left % parts).astype(np.int64)

"""Who stays alone, if a population's classes are as large as slide negative binomial numbers (Chen & McNulty 1998).

A class has 1 + X people, X with the weights Γ(α + x) / (Γ(α) x!) · β^α · (1 − β)^x. In a sample of the share π X leaves
a negative binomial number too, with β' = β / (β + π(1 − β)), and the one more is in it with probability π. So the sizes
of a sample's groups have a likelihood in closed form, given that groups of nobody are not seen. α and β are those of
the greatest likelihood; programs that fit them in another way come to other numbers. Cost: some thousand steps over the
distinct sizes of groups.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Floats
from incrowd.models.superpopulation import highest

_ALPHA = math.log(1e-4), math.log(1e4)
_ODDS = math.log(1e-9), math.log(1e9)


def snb_stays_alone(sizes: NDArray[np.int64], fraction: float) -> float:
    """Return the probability that a row that is alone in a sample is alone in the population.

    >>> round(snb_stays_alone(np.array([1, 1, 1, 2, 5, 10]), 0.5), 3)
    0.674
    """
    if fraction == 1 or len(sizes) == sizes.sum():
        return 1.0  # where everybody differs, nothing tells how the population could be otherwise
    alpha, left = snb_parameters(sizes, fraction)
    beta = fraction * left / (1 - (1 - fraction) * left)
    # Both weights are of just one row in the sample: it is all of its class, or others were left out.
    whole, of_more = fraction * beta**alpha, (fraction + (1 - fraction) * alpha * (1 - left)) * left**alpha
    return min(whole / of_more, 1.0) if of_more else 0.0


def snb_parameters(sizes: NDArray[np.int64], fraction: float) -> tuple[float, float]:
    """Return the α and the β' under which groups of these sizes, none of them empty, are likeliest."""
    distinct, counts = np.unique(sizes, return_counts=True)
    others = distinct - 1
    number = float(len(sizes))
    with_all, with_others = np.log([fraction, 1 - fraction])

    def likeliest_odds(alpha: float) -> tuple[float, float]:
        """Return log(β' / (1 − β')) and the likelihood."""
        here, one_less = with_others + _ways(distinct, alpha), with_all + _ways(others, alpha)

        def likelihood(odds: float) -> float:
            log_left, log_gone = -np.logaddexp(0.0, -odds), -np.logaddexp(0.0, odds)
            some = here + distinct * log_gone
            whole = one_less + others * log_gone
            seen = math.log(-math.expm1(min(with_others + alpha * log_left, -1e-300)))
            total = counts @ np.logaddexp(some, whole) + number * (alpha * log_left - seen)
            return float(total)

        odds = highest(likelihood, *_ODDS)
        return odds, likelihood(odds)

    alpha = math.exp(highest(lambda at: likeliest_odds(math.exp(at))[1], *_ALPHA))
    return alpha, 1 / (1 + math.exp(-likeliest_odds(alpha)[0]))


def _ways(numbers: NDArray[np.int64], alpha: float) -> Floats:
    """Return log Γ(α + x) / (Γ(α) x!) of each number x."""
    start = math.lgamma(alpha)
    return np.array([math.lgamma(alpha + x) - start - math.lgamma(x + 1) for x in numbers.tolist()])

"""How many rows of a crowd are published, on average, if rows are sampled and what is seen below k times is withheld.

Of n people who look alike, B of Bin(n, β) are sampled, and all B are published if B ≥ k. One person more adds, on
average,

    E[(B + T)·1(B + T ≥ k)] − E[B·1(B ≥ k)] = β·(P[B ≥ k] + k·P[B = k − 1]),    T of Bin(1, β),

because a sampled one (T = 1) adds itself where B ≥ k, and all k where B = k − 1. That is at most about β·(1 + 0.4·√k):
sampling takes the edge off the threshold, at which one person would otherwise decide about k rows.

Steps are whole numbers of a unit, and sums of them are exact: one person never changes a sum by more than the largest
step, and never lowers it. Cost: one pass over the sizes up to some multiple of k/β, once.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Counts
from incrowd.common.records import dataclass
from incrowd.errors import RecipeError

UNITS_PER_ROW = 100_000
"""A sampled row counts so many units."""
_MOST_SIZES = 50_000_000


@dataclass(frozen=True)
class ExpectedRows:
    """Expected numbers of published rows by the size of a crowd, in small units of β rows.

    >>> round(ExpectedRows(5, Fraction(1, 10)).published(np.array([10, 50, 200])), 2)
    23.68
    """

    k: int
    rate: Fraction

    @cached_property
    def _steps(self) -> NDArray[np.int64]:
        """What the person after the n-th adds, for n from 0 until it is one row all but surely."""
        beta, k = float(self.rate), self.k
        # Beyond this, fewer than k are sampled with a probability below 1e-17 (Chernoff).
        last = math.ceil((k + 40 + math.sqrt(80 * (k + 20))) / beta)
        if last > _MOST_SIZES:
            raise RecipeError(f"k = {k:,} at a sampling rate of {beta:g} needs too large crowds.  Hint: sample more.")
        sizes = np.arange(k - 1, last, dtype=np.float64)  # below k − 1, nothing is ever published
        grows = (sizes[1:] * (1 - beta)) / (sizes[1:] - (k - 1)) if len(sizes) > 1 else np.empty(0)
        # ln P[Bin(n, β) = k − 1] from n = k − 1 on
        logs = np.concatenate(([0.0], np.cumsum(np.log(grows)))) + (k - 1) * math.log(beta)
        just_below = np.exp(logs)
        enough = np.concatenate(([0.0], np.cumsum(beta * just_below)[:-1]))
        steps = np.zeros(last, dtype=np.int64)
        steps[k - 1 :] = np.floor(UNITS_PER_ROW * (np.minimum(enough, 1.0) + k * just_below)).astype(np.int64)
        return steps

    @cached_property
    def _sums(self) -> NDArray[np.int64]:
        return np.concatenate(([0], np.cumsum(self._steps)))

    @property
    def largest_step(self) -> int:
        """By how many units one person can raise a sum, at most; nobody lowers it."""
        return max(int(self._steps.max()), UNITS_PER_ROW)

    def units(self, sizes: Counts, times: Counts | int = 1) -> int:
        """Return the sum over crowds of these sizes, each so many times, in units; exact."""
        known = len(self._sums) - 1
        each = self._sums[np.minimum(sizes, known)] + UNITS_PER_ROW * np.maximum(sizes - known, 0)
        return int((each * times).sum())

    def published(self, sizes: Counts, times: Counts | int = 1) -> float:
        """Return the sum in rows."""
        return self.units(sizes, times) / UNITS_PER_ROW * float(self.rate)

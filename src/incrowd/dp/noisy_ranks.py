"""How many rows are at or below each value of a grid, with noise: quantiles, as many as one likes, for one price.

The grid is cut into intervals of all sizes, each counted with noise, and least squares makes the counts agree (Hay,
Rastogi, Miklau & Suciu 2010), so that what is below a value is a sum of few counts. The variance of such sums is known
exactly (`variances_of_sums`). Cost: the square of the grid's size, which is at most `MOST_VALUES`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from incrowd.common.arrays import Counts, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.dp.boxes.consistency import Generations, least_squares, variances_of_sums
from incrowd.dp.boxes.interval_tree import interval_tree
from incrowd.dp.discrete_laplace import noise_scale, noisy_counts, variance

MOST_VALUES = 1024
_BRANCHES = 8


@dataclass(frozen=True, eq=False)
class NoisyRanks:
    """Noisy counts of the intervals of a grid that agree with each other."""

    parents: Ints
    variances: Floats
    leaves: Ints
    """The interval of each value of the grid, in order."""
    counts: Floats
    """The estimate of each value."""

    @classmethod
    def measure(cls, counts: Counts, *, epsilon: Fraction, rng: np.random.Generator) -> NoisyRanks:
        """Count how many rows there are of each value; a row is in one interval of each generation."""
        parents, runs, generations = _intervals(len(counts))
        share = epsilon / generations
        before = np.concatenate(([0, 0], np.cumsum(counts)))  # codes begin at 1
        noisy = noisy_counts(rng, (before[runs[:, 1]] - before[runs[:, 0]])[:, None], epsilon=share)
        spread = np.full(len(parents), variance(noise_scale(Fraction(1), share)))
        agreed = least_squares(parents, noisy.astype(np.float64), spread)[:, 0]
        single = np.flatnonzero(runs[:, 1] - runs[:, 0] == 1)
        leaves = single[np.argsort(runs[single, 0])]
        return cls(parents, spread, leaves, agreed[leaves])

    def quantile(self, share: float, confidence: float) -> tuple[int, int, int]:
        """Return the places in the grid of a quantile, and of the interval that holds it.

        A value is below the interval, or above it, only if the noise of the one sum that decides it is further from 0
        than `confidence` allows.
        """
        values = len(self.counts)
        asked = np.tril(np.ones((values, values))).T - share  # column v: rows at or below v, less the share of all
        away = asked.T @ self.counts
        amounts = np.zeros((len(self.parents), values))
        amounts[self.leaves] = asked
        error = np.sqrt(variances_of_sums(self.parents, self.variances, amounts))
        reach = NormalDist().inv_cdf((1 + confidence) / 2) * error
        last = values - 1
        low = int(np.argmax(away >= -reach)) if (away >= -reach).any() else last
        below = np.flatnonzero(away < reach)
        high = min(int(below[-1]) + 1, last) if below.size else 0
        return min(max(_middle(away), low), high), low, high


@lru_cache(maxsize=16)  # each answer about a column cuts the same grid
def _intervals(values: int) -> tuple[Ints, Ints, int]:
    """Return the parent of each interval of a grid, its run of codes, and how many generations there are."""
    parents, runs = interval_tree(values + 1, _BRANCHES, missing=False)
    parents.setflags(write=False)
    runs.setflags(write=False)
    return parents, runs, int(Generations.of(parents).depth.max()) + 1


def _middle(away: Floats) -> int:
    """Return the first place from which on more is at or below than above: that of sums made to rise."""
    below, above = np.cumsum(away >= 0), np.cumsum((away < 0)[::-1])[::-1]
    wrong = np.concatenate(([0], below)) + np.concatenate((above, [0]))  # places on the wrong side of each cut
    return min(int(np.argmin(wrong)), len(away) - 1)

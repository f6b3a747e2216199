"""Make the noisy counts of single columns and of the pairs of a tree agree: one table could have them all.

For pairs that form a tree, some table has given counts if and only if no count is negative and all pairs say the same
of each column. So the best estimate is the nearest such point, by least squares with weights: Dykstra's (1983)
alternating projections between the counts that agree, where the nearest point has a closed form, and those that are
not negative. The table of maximum entropy with these counts is then known too: each column depends on its parent in
the tree alone. This is what graphical-model estimation (McKenna, Sheldon & Miklau 2019) comes to for a tree.
Cost: some hundred passes over the cells of the pairs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from incrowd.common.arrays import Floats
from incrowd.common.records import dataclass
from incrowd.dp.marginals.spanning import Pair

_TINY = 1e-12
_ROUNDS = 2000
_NEAR = 1e-3
"""Rows by which counts may still disagree, or be negative, when the rounds end."""


@dataclass(frozen=True, eq=False)
class Marginals:
    """Counts of each single column's cells and of each pair's, by class: the last axis."""

    singles: list[Floats]
    pairs: list[Floats]

    def clipped(self) -> Marginals:
        """Return the nearest counts that are not negative."""
        return Marginals([np.maximum(one, 0.0) for one in self.singles], [np.maximum(one, 0.0) for one in self.pairs])

    def plus(self, other: Marginals, sign: float = 1.0) -> Marginals:
        """Add, or take off, as many counts."""
        return Marginals(
            [a + sign * b for a, b in zip(self.singles, other.singles, strict=True)],
            [a + sign * b for a, b in zip(self.pairs, other.pairs, strict=True)],
        )

    def largest(self) -> float:
        """Return the largest count, whatever its sign."""
        return max(float(np.abs(one).max(initial=0.0)) for one in (*self.singles, *self.pairs))


class Agreement:
    """The counts that agree, for one tree of pairs and given variances of what was counted."""

    def __init__(self, tree: Sequence[Pair], variances: Sequence[Floats], pair_variance: float) -> None:
        self._tree = tree
        self._spread = max(pair_variance, _TINY)
        self._sizes = [len(one) for one in variances]
        self._own = [1 / np.maximum(one, _TINY)[:, None] for one in variances]
        self._precision = [one.copy() for one in self._own]
        for first, second in tree:
            self._precision[first] += 1 / (self._spread * self._sizes[second])
            self._precision[second] += 1 / (self._spread * self._sizes[first])
        self._freedom = [float((1 / one).sum()) for one in self._precision]

    def wide_variances(self, column: int) -> Floats:
        """Return the variances of a column's cells by all that was counted of them, but for that of all rows."""
        return np.asarray(1 / self._precision[column][:, 0])

    @property
    def total_variance(self) -> float:
        """The variance of all rows of one class."""
        weight = sum(1 / freedom for freedom in self._freedom)
        for first, second in self._tree:  # a pair's total is in both of its columns
            weight -= 1 / (self._spread * self._sizes[first] * self._sizes[second])
        return 1 / max(weight, _TINY)

    def nearest(self, counted: Marginals) -> Marginals:
        """Return the nearest counts that agree, negative or not.

        With the total and the single counts given, each pair's rows and columns are moved by equal amounts; then each
        column is a weighted mean, moved to the total; then the total is one too.
        """
        sums = [own * one for own, one in zip(self._own, counted.singles, strict=True)]
        weight, weighted = 0.0, np.zeros(counted.singles[0].shape[1])
        for (first, second), pair in zip(self._tree, counted.pairs, strict=True):
            sums[first] = sums[first] + pair.sum(axis=1) / (self._spread * self._sizes[second])
            sums[second] = sums[second] + pair.sum(axis=0) / (self._spread * self._sizes[first])
            # The total of a pair is in both of its columns: once is enough.
            twice = 1 / (self._spread * self._sizes[first] * self._sizes[second])
            weight -= twice
            weighted -= twice * pair.sum(axis=(0, 1))
        means = [one / precision for one, precision in zip(sums, self._precision, strict=True)]
        for mean, freedom in zip(means, self._freedom, strict=True):
            weight += 1 / freedom
            weighted += mean.sum(axis=0) / freedom
        total = weighted / weight
        singles = [
            mean + (total - mean.sum(axis=0)) / freedom / precision
            for mean, freedom, precision in zip(means, self._freedom, self._precision, strict=True)
        ]
        pairs = []
        for (first, second), pair in zip(self._tree, counted.pairs, strict=True):
            rows, columns = pair.shape[:2]
            down = (singles[first] - pair.sum(axis=1)) / columns
            across = (singles[second] - pair.sum(axis=0)) / rows
            everywhere = (total - pair.sum(axis=(0, 1))) / (rows * columns)
            pairs.append(pair + down[:, None] + across[None, :] - everywhere)
        return Marginals(singles, pairs)

    def nearest_not_negative(self, counted: Marginals) -> Marginals:
        """Return the nearest counts that agree and are not negative."""
        agreed = self.nearest(counted)
        moved = Marginals([np.zeros_like(one) for one in agreed.singles], [np.zeros_like(one) for one in agreed.pairs])
        positive = agreed
        for _ in range(_ROUNDS):
            wanted = agreed.plus(moved)
            positive = wanted.clipped()
            moved = wanted.plus(positive, -1.0)
            agreed = self.nearest(positive)
            if agreed.plus(positive, -1.0).largest() < _NEAR:
                break
        return agreed.clipped()

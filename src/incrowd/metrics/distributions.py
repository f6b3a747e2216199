"""How far the values of a release are from the table's, column by column and pair by pair.

What a release says of a column is read as an analyst would: rows are made that could be behind it
(`Form.reconstruct`), and counted. Cost: one count per column and per pair.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from incrowd.common.arrays import Codes, Floats
from incrowd.common.records import dataclass
from incrowd.core.tally import Tally
from incrowd.hierarchies.tree import Tree

LARGEST_TABLE = 1 << 22
"""Pairs with more combinations are not compared: their counts would say nothing."""

_NOTHING = 1e-9
"""What is less than this is rounding."""


@dataclass(frozen=True)
class Distances:
    """Four ways to compare two distributions; `wasserstein` only where values have an order, as a share of the span."""

    total_variation: float
    hellinger: float
    kl: float
    wasserstein: float | None = None


def column_distances(before: Floats, after: Floats, tree: Tree) -> Distances:
    """Compare two histograms of a column's codes."""
    wasserstein = None
    if tree.ordered and tree.span:
        known = slice(1, None)  # how far missing is from a number is not known
        p, q = _shares(before[known]), _shares(after[known])
        steps = np.diff(tree.positions[known]) / tree.span
        wasserstein = float((np.abs(np.cumsum(p - q))[:-1] * steps).sum())
    return distances(before, after, wasserstein)


def distances(before: Floats, after: Floats, wasserstein: float | None = None) -> Distances:
    """Compare two histograms of anything.

    >>> distances(np.array([1.0, 1.0]), np.array([1.0, 0.0])).total_variation
    0.5
    """
    p, q = _shares(before), _shares(after)
    # For KL what was never published must be possible: every value that the table has counts as half a row more.
    smoothed = after + 0.5 * ((before > 0) | (after > 0))
    r = _shares(smoothed)
    some = p > 0
    return Distances(
        float(np.abs(p - q).sum() / 2),
        float(np.sqrt(max(1 - np.sqrt(p * q).sum(), 0.0))),
        max(float((p[some] * np.log(p[some] / r[some])).sum()), 0.0),
        wasserstein,
    )


def joint_counts(one: Codes, two: Codes, weights: Floats, sizes: tuple[int, int]) -> Floats:
    """Count the combinations of two columns."""
    keys = one.astype(np.int64) * sizes[1] + two
    return np.bincount(keys, weights=weights, minlength=sizes[0] * sizes[1]).reshape(sizes).astype(np.float64)


def association(joint: Floats) -> float:
    """Return Cramér's V of two columns: 0 if they say nothing of each other, 1 if one determines the other.

    Corrected for the association that chance alone gives (Bergsma 2013).
    """
    of_one, of_two = joint.sum(axis=1), joint.sum(axis=0)
    rows, total = (np.count_nonzero(of_one), np.count_nonzero(of_two)), of_one.sum()
    if min(rows) < 2 or total <= 1:
        return 0.0
    # Most combinations are nobody's, so that squares are added up of those that are somebody's alone.
    cells = np.flatnonzero(joint)
    one, two = np.divmod(cells, joint.shape[1])
    phi2 = float((joint.ravel()[cells] ** 2 / (of_one[one] * of_two[two])).sum()) - 1.0
    phi2 = max(phi2 - (rows[0] - 1) * (rows[1] - 1) / (total - 1), 0.0)
    corrected = [size - (size - 1) ** 2 / (total - 1) for size in rows]
    most = min(corrected) - 1
    if phi2 < _NOTHING or most < _NOTHING:  # so few rows that chance alone explains anything
        return 0.0
    return float(np.sqrt(min(phi2 / most, 1.0)))


def comparable_pairs(tally: Tally, columns: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of columns whose combinations can be counted."""
    return [
        (one, two)
        for place, one in enumerate(columns)
        for two in columns[place + 1 :]
        if tally.trees[one].size * tally.trees[two].size <= LARGEST_TABLE
    ]


def _shares(counts: Floats) -> Floats:
    total = counts.sum()
    return np.asarray(counts / total if total > 0 else np.zeros(len(counts.ravel())).reshape(counts.shape))

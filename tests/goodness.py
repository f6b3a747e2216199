"""How well counts agree with a distribution: chi-square tests that pool what is rare."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

SIGNIFICANT = 1e-6
"""With fixed seeds a test passes always or never; chance had this much say when the seed was chosen."""


def fit(observed: ArrayLike, probabilities: ArrayLike) -> float:
    """Return the p-value of counts under a distribution; the last cell takes all outcomes that are not listed."""
    counts = np.append(np.asarray(observed, dtype=float), 0.0)
    shares = np.append(np.asarray(probabilities, dtype=float), max(0.0, 1 - float(np.sum(probabilities))))
    expected = shares * counts.sum()
    common = expected >= 10
    assert common.sum() > 1, "too few draws to say anything"
    if not common.all():
        counts = np.append(counts[common], counts[~common].sum())
        expected = np.append(expected[common], expected[~common].sum())
        if expected[-1] < 1e-6:
            assert counts[-1] == 0, "an impossible outcome came up"
            counts, expected = counts[:-1], expected[:-1]
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return float(stats.chi2.sf(statistic, len(counts) - 1))


def same(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """Return the p-value of two samples under the hypothesis that they have one distribution."""
    values = np.union1d(first, second)
    table = np.array([[np.count_nonzero(sample == value) for value in values] for sample in (first, second)])
    common = table.sum(axis=0) >= 20
    pooled = np.column_stack([table[:, common], table[:, ~common].sum(axis=1)])
    return float(stats.chi2_contingency(pooled[:, pooled.sum(axis=0) > 0]).pvalue)

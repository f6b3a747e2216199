"""How many rows of a sample are unique in its population, by several estimates that suppose different populations.

None of them is a bound, and they may differ tenfold: which one is right depends on how large the population's classes
are, and a small sample hardly tells. `python -m benchmarks.uniqueness` holds them against tables whose population is
known: the truth was never above the largest of them, and could be a tenth of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from incrowd.models.poisson_classes import poisson_stays_alone
from incrowd.models.slide_negative_binomial import snb_stays_alone
from incrowd.models.superpopulation import pitman_stays_alone, zayatz_stays_alone

ESTIMATORS: Mapping[str, Callable[[NDArray[np.int64], float], float]] = {
    "pitman": pitman_stays_alone,
    "poisson": poisson_stays_alone,
    "snb": snb_stays_alone,
    "zayatz": zayatz_stays_alone,
}
"""Each returns the probability that a row that is alone in a sample is alone in the population."""


def uniqueness_estimates(sizes: NDArray[np.int64], fraction: float) -> dict[str, float]:
    """Return the share of a sample's rows that are unique in the population, by each estimator.

    `sizes` are those of the sample's groups, and `fraction` is the share of the population that the sample is.

    >>> {name: round(share, 3) for name, share in uniqueness_estimates(np.array([1, 1, 1, 2, 5, 10]), 0.1).items()}
    {'pitman': 0.017, 'poisson': 0.0, 'snb': 0.058, 'zayatz': 0.038}
    """
    rows = int(sizes.sum())
    alone = int((sizes == 1).sum()) / rows if rows else 0.0
    return {name: alone * stays(sizes, fraction) if alone else 0.0 for name, stays in ESTIMATORS.items()}

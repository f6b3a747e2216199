"""Who stays alone, if all classes of a population are equally large: groups of a sample are then Poisson numbers.

Groups of nobody are not seen, so that the mean λ of a group solves λ / (1 − exp(−λ)) = rows / groups, and the people
whom the sample lacks join a row with λ·(1 − π)/π of them on average. Nothing is more even than this, so that where
classes differ it finds too few rows alone: a lower end. Cost: some steps, whatever the table's size.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def poisson_stays_alone(sizes: NDArray[np.int64], fraction: float) -> float:
    """Return the probability that a row that is alone in a sample is alone in the population.

    >>> round(poisson_stays_alone(np.array([1, 1, 1, 1, 1, 1, 1, 1, 1, 2]), 0.1), 3)
    0.175
    """
    rows, groups = float(sizes.sum()), float(len(sizes))
    if rows == groups:
        return 1.0  # everybody differs, and nothing tells how the population could be otherwise
    low, high = 0.0, rows / groups
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle / -math.expm1(-middle) < rows / groups else (low, middle)
    return math.exp(-high * (1 - fraction) / fraction)

"""How wrong a count of several conditions may be, where a model knows columns better than what they have in common.

Each condition has the noise of its column, as far as the others let its rows through. What the model does not know of
two columns together moves rows between the four combinations of asked and not asked: by N·φ·√(p(1 − p)·q(1 − q)), if
shares p and q of N rows satisfy the two, and φ is the correlation that the model is wrong by. Before it is measured, φ²
is taken to be in proportion to noise, next to all rows: the less is known, the coarser are the cells that are counted
together, and the fewer.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import combinations

_LARGEST = 0.3
_ONE_ROW = 1.0
"""No model is right to less than this."""


def usual_dependence(variances: Collection[float], rows: float, unknown: float) -> float:
    """Return the correlation that a model is usually wrong by, from the noise of one count of each column.

    `unknown` is φ² next to the noise of one count and all rows: it depends on what a method counts.
    """
    noise = sum(math.sqrt(one) for one in variances) / max(len(variances), 1)
    return min(math.sqrt(unknown * noise / max(rows, 1.0)), _LARGEST)


def several_conditions(
    shares: Sequence[float], noise: Sequence[float], rows: float, dependence: float, known_with: Collection[int] = ()
) -> tuple[float, float]:
    """Return the variance of noise and the standard deviation of what a model is wrong by, from each condition's.

    What the conditions at `known_with` have in common with each other one is known.
    """
    known, unknown = 0.0, 0.0
    for place, each in enumerate(noise):
        known += each * _product(shares, {place}) ** 2
    for one, other in combinations((place for place in range(len(shares)) if place not in known_with), 2):
        mixed = math.prod(shares[place] * (1 - shares[place]) for place in (one, other))
        unknown += mixed * _product(shares, {one, other}) ** 2
    return known, max(dependence * rows * math.sqrt(max(unknown, 0.0)), _ONE_ROW)


def _product(shares: Sequence[float], without: set[int]) -> float:
    return math.prod(share for place, share in enumerate(shares) if place not in without)

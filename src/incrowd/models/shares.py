"""Shares, for the models that bound them: as parameters, of a group, and next to the whole table's."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Floats
from incrowd.common.parameters import require_number
from incrowd.core.groups import Groups, Histogram
from incrowd.errors import RecipeError


def require_share(owner: str, name: str, value: float, *, zero: bool) -> None:
    """Refuse anything but a number from 0 to 1, and 0 itself unless it has a meaning."""
    require_number(owner, name, value, **({"at_least": 0} if zero else {"above": 0}))
    if value > 1:
        raise RecipeError(f"{owner}: {name} is a share, at most 1, not {value!r}.")


def fewest_rows(share: float) -> int:
    """Return the smallest group of which one row is at most this share.

    >>> fewest_rows(0.3), fewest_rows(1 / 49)
    (4, 49)
    """
    rows = math.floor(1 / share)
    return rows if rows and 1 / rows <= share else rows + 1


def group_shares(groups: Groups, histogram: Histogram) -> Floats:
    """Return each entry's share of its group.

    One division, rounded once: a share that equals a parameter written in decimals is also equal to it as a float.
    """
    shares: Floats = histogram.counts / groups.sizes[histogram.group_of]
    return shares


def lifts(groups: Groups, name: str, histogram: Histogram) -> Floats:
    """Return how many times more frequent each entry's value is in its group than in the whole table."""
    whole = groups.shares(name)[histogram.values]
    ratios = np.full(len(whole), np.inf)
    np.divide(group_shares(groups, histogram), whole, out=ratios, where=whole > 0)
    return ratios


def groups_without(histogram: Histogram, bad: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether each group has no bad entry."""
    without = np.ones(len(histogram.offsets) - 1, dtype=bool)
    without[histogram.group_of[bad]] = False
    return without


def largest(values: Iterable[NDArray[np.floating]]) -> float:
    """Return the largest of all values; 0 when there is no group to fail."""
    return max((float(array.max(initial=0.0)) for array in values), default=0.0)

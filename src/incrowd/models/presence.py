"""How likely people are to be in a table, given what its groups show and everybody whom they might be.

All ways in which the rows can be people of the population, each one at most once, are taken to be equally likely.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Counts, Floats
from incrowd.core.groups import Groups, a_population
from incrowd.errors import NeedsTable
from incrowd.kernels.boxes_and_points import points_in_boxes, sum_of_boxes_at_points

MOST_COMPARED = 20_000
"""Of more groups that share people it is not looked up which ones share with which, and the bound is looser."""
PAIRS_AT_ONCE = 2_000_000


class Presence:
    """Bounds on everybody's probability of being in the table, given all groups that are published."""

    def __init__(self, groups: Groups) -> None:
        self._rows, self._people_in = groups.sizes, groups.population  # refuses a table without a population
        self.lowest = rows_over_people(groups)
        """Everybody of a group is at least this likely to be present."""
        assert groups.table is not None
        assert groups.table.population is not None
        assert groups.regions is not None
        self._people, regions = groups.table.population, groups.regions()
        order = [regions.columns.index(name) for name in self._people.columns]
        self._lows = np.ascontiguousarray(regions.lows[:, order])
        self._highs = np.ascontiguousarray(regions.highs[:, order])
        self._groups_of = np.rint(self._sum_at_people(np.ones(len(groups)))).astype(np.int64)

    def _sum_at_people(self, weights: Floats) -> Floats:
        return sum_of_boxes_at_points(self._lows, self._highs, weights, self._people.codes)

    def _count(self, chosen: NDArray[np.bool_]) -> Counts:
        """Return how many of some people each group's labels hold for."""
        if not chosen.any():
            return np.zeros(len(self._rows), dtype=np.int64)
        return points_in_boxes(self._lows, self._highs, self._people.codes[chosen], self._people.counts[chosen])

    @property
    def left_out(self) -> bool:
        """Whether there is anybody whom no label holds for."""
        return bool((self._groups_of == 0).any())

    @cached_property
    def _shared(self) -> NDArray[np.bool_]:
        return self._groups_of > 1

    @cached_property
    def highest(self) -> Floats:
        """Everybody is at most this likely to be one of a group's rows."""
        shared = self._count(self._shared)
        taken = np.minimum(shared, self._rows_beside(np.flatnonzero(shared)))
        certain = np.maximum(self._people_in - taken, self._rows)
        return np.where(self._people_in < self._rows, self.lowest, self._rows / np.maximum(certain, 1))

    def _rows_beside(self, sharing: NDArray[np.int64]) -> Counts:
        """Return how many rows of other groups may be people of each group, given the groups that share people."""
        beside: Counts = self._rows.sum() - self._rows
        if len(sharing) > MOST_COMPARED:
            return beside
        for some in np.array_split(sharing, 1 + len(sharing) ** 2 // PAIRS_AT_ONCE):
            meet = np.ones((len(some), len(sharing)), dtype=bool)
            for lows, highs in zip(self._lows.T, self._highs.T, strict=True):
                meet &= (lows[some, None] < highs[sharing]) & (lows[sharing] < highs[some, None])
            beside[some] = meet @ self._rows[sharing].astype(np.float64) - self._rows[some]
        return beside

    @cached_property
    def together(self) -> Floats:
        """People whom several groups may be are at most this likely to be present; 0 for all others."""
        if not self._shared.any():
            return np.zeros(len(self._people.counts))
        sums = self._sum_at_people(np.minimum(self.highest, 1.0))
        return np.where(self._shared, np.minimum(sums, 1.0), 0.0)

    def holds_any(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return whether each group's labels hold for any of some people."""
        return self._count(chosen) > 0


def rows_over_people(groups: Groups) -> Floats:
    """Return each group's rows over the people whom its labels hold for, infinity where there are none."""
    if groups.population_is_estimated:
        raise NeedsTable(
            "weights do not tell who is in the population, only how many.  "
            f"Hint: name a table of it when the table is read: {a_population()}."
        )
    ratios = np.full(len(groups), np.inf)
    np.divide(groups.sizes, groups.population, out=ratios, where=groups.population > 0)
    return ratios

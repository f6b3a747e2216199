"""Sum a tally up into any groups of its tuples, for methods that regroup it again and again.

Cost: one pass over the tally for the sizes, and one per sensitive column that a model asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from incrowd.common.arrays import Codes, Ints
from incrowd.core.groups import Groups, Histogram, LazyHistograms, Regions, own_regions
from incrowd.core.tally import Tally
from incrowd.hierarchies.tree import Tree


class Grouper:
    """Makes `Groups` of a tally's tuples; sensitive values are counted only if a model asks for them."""

    def __init__(self, tally: Tally, sensitive: tuple[str, ...]) -> None:
        from incrowd.kernels import partition

        self._kernel = partition
        self._tally = tally
        self._sensitive = sensitive
        self._quasi = tuple(name for name in tally.columns if name not in sensitive)
        self._codes = {name: np.ascontiguousarray(tally.column(name)) for name in sensitive}
        self._whole = {name: tally.table_counts(name) for name in sensitive}

    @property
    def trees(self) -> Mapping[str, Tree]:
        """The trees of all columns."""
        return self._tally.trees

    def groups(self, group_of: Ints, count: int, tuples: Ints | None = None) -> Groups:
        """Return the groups `0` to `count - 1`; `group_of[i]` is the group of tuple i, or of the i-th of `tuples`."""
        sorted_places: list[Ints] = []

        def histogram(codes: Codes) -> Histogram:
            if not sorted_places:
                sorted_places.extend(self._kernel.sort_by_piece(np.arange(len(group_of)), group_of, count))
            order, starts = sorted_places
            values, every = int(codes.max(initial=0)) + 1, np.arange(count)
            members = np.arange(len(group_of)) if tuples is None else tuples
            counts = self._tally.counts if tuples is None else self._tally.counts[tuples]
            return Histogram(*self._kernel.count_values(order, starts, every, members, counts, codes, values))

        def regions() -> Regions:
            codes = self._quasi_codes if tuples is None else self._quasi_codes.take(tuples, axis=0)
            return own_regions(self._quasi, codes, group_of, count)

        return Groups(
            self.sizes(group_of, count, tuples),
            LazyHistograms(self._sensitive, lambda name: histogram(self._codes[name])),
            self._whole,
            self._tally.trees,
            joint=lambda: histogram(self._joint),
            table=self._tally,
            regions=regions,
        )

    @cached_property
    def _quasi_codes(self) -> Codes:
        return self._tally.codes_of(self._quasi)

    @cached_property
    def _joint(self) -> Codes:
        return self._tally.joint_codes(self._sensitive)

    def sizes(self, group_of: Ints, count: int, tuples: Ints | None = None) -> Ints:
        """Return the rows of each group."""
        return sum_up(group_of, count, self._tally.counts if tuples is None else self._tally.counts[tuples])

    def whole(self) -> Groups:
        """Return all rows as one group."""
        return self.groups(np.zeros(len(self._tally), dtype=np.int64), 1)


def sum_up(group_of: Ints, count: int, counts: Ints) -> Ints:
    """Return the rows of each group, where each place has so many."""
    return np.bincount(group_of, weights=counts, minlength=count).astype(np.int64)

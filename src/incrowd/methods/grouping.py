"""Sum a tally up into any groups of its tuples, for methods that regroup it again and again.

Cost: one pass over the tally for the sizes, and one per sensitive column that a model asks for.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from incrowd.common.arrays import Codes, Ints
from incrowd.core.groups import Groups, Histogram, LazyHistograms, own_regions
from incrowd.core.tally import Tally


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

    def groups(self, group_of: Ints, count: int) -> Groups:
        """Return the groups `0` to `count - 1`; `group_of[i]` is the group of tuple i."""
        sorted_tuples: list[Ints] = []

        def histogram(codes: Codes) -> Histogram:
            itself = np.arange(len(group_of))
            if not sorted_tuples:
                sorted_tuples.extend(self._kernel.sort_by_piece(itself, group_of, count))
            order, starts = sorted_tuples
            values = int(codes.max(initial=0)) + 1
            return Histogram(
                *self._kernel.count_values(order, starts, np.arange(count), itself, self._tally.counts, codes, values)
            )

        return Groups(
            self.sizes(group_of, count),
            LazyHistograms(self._sensitive, lambda name: histogram(self._codes[name])),
            self._whole,
            self._tally.trees,
            joint=lambda: histogram(self._joint),
            table=self._tally,
            regions=lambda: own_regions(self._quasi, self._quasi_codes, group_of, count),
        )

    @cached_property
    def _quasi_codes(self) -> Codes:
        return self._tally.codes_of(self._quasi)

    @cached_property
    def _joint(self) -> Codes:
        return self._tally.joint_codes(self._sensitive)

    def sizes(self, group_of: Ints, count: int) -> Ints:
        """Return the rows of each group."""
        return np.bincount(group_of, weights=self._tally.counts, minlength=count).astype(np.int64)

    def whole(self) -> Groups:
        """Return all rows as one group."""
        return self.groups(np.zeros(len(self._tally), dtype=np.int64), 1)

"""Regions of a table whose people move at the same time, each among the groups of its own region.

How many regions there are, and who is in which, depends on the items and on the turn, and never on the number of
threads, so that the same comes out with any. Each turn draws its borders elsewhere, so that those near by whom an item
lacks in its region are there in another turn. Cost: sorting the groups, for each turn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from incrowd.common.arrays import Ints
from incrowd.common.threads import do_together
from incrowd.kernels.improving import Items, Region

_ITEMS_EACH, _MOST = 8192, 64
"""A region has so many items, or more; fewer would find too few others near them."""
_STEPS = 64
"""Numbers that one try looks at, about."""
_NEAREST = 6

Work = Callable[[Region, int, int, Ints], float]
"""Moves the items of a region, given its share of the tries, a seed and the items' groups; returns what is lost."""


class Regions:
    """Cuts items into regions, turn by turn; where all are to be `one`, into none."""

    def __init__(self, items: Items, *, one: bool) -> None:
        self._codes = items.codes
        self._number = 1 if one else int(np.clip(len(items.counts) // _ITEMS_EACH, 1, _MOST))
        nearest = items.near[:, :_NEAREST]
        # Columns in which those near by are mostly equal come first: then few borders run between them.
        alike = [(codes[nearest] == codes[:, None]).mean() for codes in items.codes.T] if nearest.size else []
        share = np.clip(np.array(alike or [0.5] * items.codes.shape[1]), 0.001, 0.999)
        self._alike = np.log(share / (1 - share))

    def move(self, groups: Ints, tries: int, turn: int, work: Work) -> float:
        """Let all regions move their items, at the same time where there are threads; return what is lost then."""
        regions, own_groups = self._cut(groups, turn)
        tasks = [
            partial(work, one, tries * len(own) // len(groups), turn * _MOST + place, own)
            for place, (one, own) in enumerate(zip(regions, own_groups, strict=True))
        ]
        lost = do_together(tasks, steps=_STEPS * tries)
        first = 0
        for one, own in zip(regions, own_groups, strict=True):
            groups[one.members] = np.where(own >= 0, own + first, own)
            first += int(own.max(initial=-1)) + 1
        return float(sum(lost))

    def _cut(self, groups: Ints, turn: int) -> tuple[list[Region], list[Ints]]:
        """Cut the groups, in an order of their codes, into regions of about as many items; number each one's groups."""
        number, chance = self._number, np.random.default_rng(turn)
        alone = np.flatnonzero(groups < 0)  # a withheld item goes where its codes are
        apart = groups.copy()
        apart[alone] = groups.max(initial=-1) + 1 + np.arange(len(alone))
        _, first, group_of = np.unique(apart, return_index=True, return_inverse=True)
        columns = np.argsort(self._alike + chance.gumbel(size=len(self._alike)))
        order = np.lexsort(self._codes[first][:, columns].T)  # the last column counts most
        sizes = np.bincount(group_of)[order]
        shift = 0 if number == 1 else int(chance.integers(len(groups) // number))
        cut = np.minimum((np.cumsum(sizes) - sizes + shift) * number // len(groups), number)
        rank, region_of_group = np.empty_like(order), np.empty_like(order)
        rank[order] = np.arange(len(order)) - np.searchsorted(cut, cut)
        region_of_group[order] = cut
        region_of = region_of_group[group_of].astype(np.int32)
        members = [np.flatnonzero(region_of == region) for region in range(number + 1)]
        place_of = np.empty(len(groups), dtype=np.int32)
        for one in members:
            place_of[one] = np.arange(len(one))
        local = np.where(groups < 0, groups, rank[group_of])
        filled = [one for one in members if len(one)]
        return [Region(one, region_of, place_of) for one in filled], [local[one] for one in filled]

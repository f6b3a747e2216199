"""The group that each failing group would best join: the cheapest one that makes it safe.

A group whose choice was joined with another one looks for a new choice, among all groups. Cost of a search: groups are
in a tree of boxes (`kernels/native/joining.cpp`), of which a search looks into few, whatever their number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from incrowd.common.arrays import Bools, Floats, Ints
from incrowd.methods.leftover_groups import LocalGroups

_NEAREST = 32
"""So many groups are tried with each failing one where there are too many kinds of groups to try each with each."""
_FEW_KINDS_TRIED, _MOST_KINDS_TRIED = 1 << 19, 1 << 23
_KINDS_TRIED_PER_SEARCH = 256
_PAIRS_AT_ONCE = 1 << 20
"""A limit of memory: so many pairs of kinds are listed at the same time."""
_NONE = -1


class Partners:
    """What each group might join, and at what cost."""

    def __init__(self, groups: LocalGroups) -> None:
        """Know nothing of any group yet."""
        from incrowd.kernels import joining

        self._kernel: Any = joining
        self._groups = groups
        self._in_vain = np.zeros(len(groups), dtype=bool)
        self._joined_since = False
        self._judged = _JudgedKinds()

    def look_for(self, waiting: Ints) -> tuple[Ints, Ints, Floats]:
        """Return groups that found one to join, their choices and what they cost; none searches in vain twice."""
        searching = waiting[~self._in_vain[waiting]]
        choice, cost = self._suitable(searching) if len(searching) else (searching, np.empty(0))
        helped = choice != _NONE
        self._in_vain[searching] = ~helped
        return searching[helped], choice[helped], cost[helped]

    def look_again(self) -> bool:
        """Let groups that searched in vain search again, if there are other groups by now; return whether there are."""
        again, self._joined_since = self._joined_since, False
        if again:
            self._in_vain[:] = False
        return again

    def follow(self, moved: Ints) -> None:
        """Forget what joined groups did; `moved` has each old group's new number, or -1 for one that is withheld."""
        kept = moved >= 0
        joined = np.bincount(moved[kept], minlength=len(self._groups)) > 1
        in_vain = np.zeros(len(self._groups), dtype=bool)
        in_vain[moved[kept]] = self._in_vain[kept]
        self._in_vain = in_vain & ~joined
        self._joined_since = True

    def nearest(self, searching: Ints, wanted: int, *, only_failing: bool = False) -> tuple[Ints, Floats]:
        """Return the groups that each one costs least to join, safe or not, and what it costs."""
        return self._nearest(
            searching,
            wanted,
            np.zeros(len(searching), dtype=np.int64),
            np.zeros(len(self._groups), dtype=np.int64),
            np.ones((1, 1), dtype=bool),
            only_failing=only_failing,
        )

    def _suitable(self, searching: Ints) -> tuple[Ints, Floats]:
        """Return the group that makes each one safe at the least cost, and the cost."""
        groups = self._groups
        kind_of, examples, names = groups.kinds()
        searching_kinds, own_row = np.unique(kind_of[searching], return_inverse=True)
        most = np.clip(_KINDS_TRIED_PER_SEARCH * len(searching), _FEW_KINDS_TRIED, _MOST_KINDS_TRIED)
        if len(searching_kinds) * len(examples) <= most and not groups.judged_by_labels:
            safe = self._judged.judge(groups, searching_kinds, examples, names)
            found, costs = self._nearest(searching, 1, own_row, kind_of, safe)
            return found[:, 0], costs[:, 0]
        found, costs = self.nearest(searching, _NEAREST)
        suits = found >= 0
        ones = np.broadcast_to(searching[:, None], found.shape)[suits]
        suits[suits] = groups.judge_pairs(ones, found[suits])
        every, first = np.arange(len(searching)), suits.argmax(axis=1)
        helped = suits[every, first]
        return np.where(helped, found[every, first], _NONE), np.where(helped, costs[every, first], np.inf)

    def _nearest(
        self, searching: Ints, wanted: int, own_row: Ints, kind_of: Ints, safe: Bools, *, only_failing: bool = False
    ) -> tuple[Ints, Floats]:
        found = np.empty((len(searching), wanted), dtype=np.int64)
        costs = np.empty((len(searching), wanted))
        self._kernel.nearest(
            searching, self._groups.failing, only_failing, own_row, kind_of, safe, *self._groups.layout(), found, costs
        )
        return found, costs


class _JudgedKinds:
    """Which kinds of groups make which others safe, kept for the next round: most kinds are there still."""

    def __init__(self) -> None:
        self._rows = self._names = np.empty(0, dtype=np.int64)
        self._safe = np.empty((0, 0), dtype=bool)

    def judge(self, groups: LocalGroups, some: Ints, examples: Ints, names: Ints) -> Bools:
        """Return, for some kinds and all, whether the union of two is safe; kinds have examples and sorted names."""
        rows = names[some]
        old_row, row_known = _places(self._rows, rows)
        old_kind, kind_known = _places(self._names, names)
        safe = np.empty((len(rows), len(names)), dtype=bool)
        known = row_known[:, None] & kind_known
        safe[np.ix_(row_known, kind_known)] = self._safe[np.ix_(old_row[row_known], old_kind[kind_known])]
        step = max(_PAIRS_AT_ONCE // max(len(names), 1), 1)
        for start in range(0, len(rows), step):
            row, kind = np.nonzero(~known[start : start + step])
            safe[start + row, kind] = groups.judge_pairs(examples[some[start + row]], examples[kind])
        self._rows, self._names, self._safe = rows, names, safe
        return safe


def _places(known: Ints, wanted: Ints) -> tuple[Ints, Bools]:
    """Return where each number is among sorted ones, and whether it is."""
    place = np.searchsorted(known, wanted)
    inside = np.minimum(place, max(len(known) - 1, 0))
    return inside, known[inside] == wanted if len(known) else np.zeros(len(wanted), dtype=bool)

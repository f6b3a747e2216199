"""Groups that fail a model join others, at the least loss.

Each failing group looks for the group that it costs least to join among those that make it safe; the cheapest of these
pairs that do not touch each other are joined, and the rest go on. Failing groups that no other one makes safe join each
other, and the last of them their nearest ones, as many as it takes. Where rows may be withheld, a group is withheld
instead if that costs less.

Cost: rounds of failing groups × the logarithm of groups; see `leftover_partners.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from incrowd.common.arrays import Bools, Floats, Ints
from incrowd.common.progress import Progress
from incrowd.core.recoding import WITHHELD
from incrowd.methods.deadline import Deadline
from incrowd.methods.lattice import Levels
from incrowd.methods.leftover_groups import LocalGroups
from incrowd.methods.leftover_partners import Partners

_NONE = -1


class Joining:
    """Joins groups until all are safe, withheld, or cannot be made safe."""

    def __init__(self, groups: LocalGroups, top: Levels, *, most_withheld: int) -> None:
        """Join `groups`; `top` are the highest levels that are allowed."""
        from incrowd.kernels import joining

        self._kernel: Any = joining
        self._groups, self._top = groups, top
        self._partners = Partners(groups)
        self._may_withhold = most_withheld
        self._hopeless = np.zeros(len(groups), dtype=bool)

    def run(self, deadline: Deadline, progress: Progress) -> None:
        """Join failing groups as long as that helps any."""
        groups = self._groups
        started = max(int(groups.failing.sum()), 1)
        try:
            while (waiting := np.flatnonzero(groups.failing & ~self._hopeless)).size:
                progress("joining", 1.0 - min(waiting.size / started, 1.0))
                self._step(waiting, hurry=deadline.passed())
        except KeyboardInterrupt:
            deadline.stop()
            while (waiting := np.flatnonzero(groups.failing & ~self._hopeless)).size:
                self._step(waiting, hurry=True)

    def _step(self, waiting: Ints, *, hurry: bool) -> None:
        if hurry:
            if not self._join_cells(waiting):
                self._join_nearest(int(waiting[0]))
            return
        if not (self._join_partners(waiting) or self._partners.look_again() or self._join_failing(waiting)):
            self._join_nearest(int(waiting[0]))

    def _join_partners(self, waiting: Ints) -> bool:
        """Join groups with their partners, the cheapest first, or withhold them; return whether any was."""
        groups = self._groups
        ones, partner, cost = self._partners.look_for(waiting)
        withheld = self._better_withheld(ones, cost)
        taken = np.zeros(len(groups), dtype=bool)
        taken[withheld] = True
        order = np.lexsort((ones, cost))
        joins, is_first = self._kernel.match_unions(ones[order], partner[order], cost[order], taken, *groups.layout())
        self._leave_unsafe(joins, is_first)
        target = np.where(joins != _NONE, joins, np.arange(len(groups)))
        target[withheld] = WITHHELD
        return self._replace(target)

    def _leave_unsafe(self, joins: Ints, is_first: Bools) -> None:
        """Leave only the first pair of each union that is not safe with all that joined it."""
        joined = np.flatnonzero(joins != _NONE)
        members = joined[np.argsort(joins[joined], kind="stable")]
        starts = np.flatnonzero(np.diff(joins[members], prepend=_NONE))
        unsafe = np.zeros(len(joins), dtype=bool)
        unsafe[joins[members[starts]]] = ~self._groups.judge_unions(members, starts)
        late = joined[unsafe[joins[joined]] & ~is_first[joined] & (joins[joined] != joined)]
        joins[late] = _NONE

    def _better_withheld(self, ones: Ints, cost: Floats) -> Ints:
        """Choose groups to withhold rather than join at a cost per row: those that gain most, as far as the limit."""
        gain = cost - (1.0 - self._groups.losses[ones])
        order = np.lexsort((ones, -gain))
        order = order[gain[order] > 0]
        fits = np.cumsum(self._groups.sizes[ones[order]]) <= self._may_withhold
        chosen: Ints = ones[order[fits]]
        self._may_withhold -= int(self._groups.sizes[chosen].sum())
        return chosen

    def _join_failing(self, waiting: Ints) -> bool:
        """Join failing groups with each other, though that does not make them safe yet."""
        groups = self._groups
        found, costs = self._partners.nearest(waiting, 1, only_failing=True)
        order = np.lexsort((waiting, costs[:, 0]))
        order = order[found[order, 0] != _NONE]
        ones, others = waiting[order], found[order, 0]
        accepted = self._kernel.match(ones, others, np.zeros(len(groups), dtype=bool))
        target = np.arange(len(groups))
        target[others[accepted]] = ones[accepted]
        return self._replace(target)

    def _join_cells(self, waiting: Ints) -> bool:
        """Join all failing groups that may be joined, without looking for anything better."""
        keys = self._groups.cells(self._top)[waiting]
        _, first, index = np.unique(keys, return_index=True, return_inverse=True)
        target = np.arange(len(self._groups))
        target[waiting] = waiting[first[index]]
        return self._replace(target)

    def _join_nearest(self, one: int) -> None:
        """Join a group with as many of its nearest ones as make it safe, or withhold it where that costs less."""
        groups = self._groups
        costs = self._kernel.costs_of_joining(one, *groups.layout())
        order = np.argsort(costs, kind="stable")
        order = order[np.isfinite(costs[order])]
        enough = self._fewest_to_join(one, order)
        size = int(groups.sizes[one])
        target = np.arange(len(groups))
        if enough is None:
            self._hopeless[one] = True
        elif size <= self._may_withhold and costs[order[:enough]].sum() > size * (1.0 - groups.losses[one]):
            self._may_withhold -= size
            target[one] = WITHHELD
        else:
            target[order[:enough]] = one
        self._replace(target)

    def _fewest_to_join(self, one: int, order: Ints) -> int | None:
        """Return how many of the groups, in this order, make one safe; None if not even all of them do.

        Numbers are doubled, then halved: models that joining may break are not tried with every number.
        """
        too_few, enough = 0, min(1, len(order))
        while not self._safe_with(one, order[:enough]):
            if enough == len(order):
                return None
            too_few, enough = enough, min(2 * enough, len(order))
        while enough - too_few > 1:
            half = (too_few + enough) // 2
            safe = self._safe_with(one, order[:half])
            too_few, enough = (too_few, half) if safe else (half, enough)
        return enough

    def _safe_with(self, one: int, others: Ints) -> bool:
        return bool(self._groups.judge_unions(np.append(others, one), np.zeros(1, dtype=np.int64))[0])

    def _replace(self, target: Ints) -> bool:
        """Join or withhold groups; return whether any was."""
        if np.array_equal(target, np.arange(len(target))):
            return False
        moved = self._groups.replace(target)
        self._partners.follow(moved)
        self._hopeless = np.zeros(len(self._groups), dtype=bool)
        return True

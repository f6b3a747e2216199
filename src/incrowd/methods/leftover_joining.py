"""Groups that fail a model join others, at the least loss.

Each failing group looks for the group that it costs least to join among those that make it safe; the cheapest of these
pairs that do not touch each other are joined, and the rest go on. Failing groups that no other one makes safe join each
other, and the last of them their nearest ones, as many as it takes. Where rows may be withheld, a group is withheld
instead if that costs less.

Cost: a few dozen rounds; in the first, failing groups × groups, in the others, only those whose choice was taken look
again. Where that is too much, groups look only among those that share a cell of some level vector with them.
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

_NEAREST = 32
"""So many groups are tried with each failing one where there are too many kinds of groups to try each with each."""
_MOST_KINDS_TRIED = 1 << 19
_MOST_COMPARED = 1 << 25
_NONE = -1


class Joining:
    """Joins groups until all are safe, withheld, or cannot be made safe."""

    def __init__(self, groups: LocalGroups, vectors: Levels, *, most_withheld: int) -> None:
        """Join `groups`; `vectors` are levels whose cells may narrow the search, finest first, the last the top."""
        from incrowd.kernels import joining

        self._kernel: Any = joining
        self._groups, self._vectors = groups, vectors
        self._may_withhold = most_withheld
        self._most_compared = _MOST_COMPARED
        self._partner = np.full(len(groups), _NONE)
        self._cost = np.full(len(groups), np.inf)
        self._in_vain = np.zeros(len(groups), dtype=bool)
        self._hopeless = np.zeros(len(groups), dtype=bool)
        self._joined_since, self._everywhere = False, True

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
        self._look_for_partners(waiting[(self._partner[waiting] == _NONE) & ~self._in_vain[waiting]])
        if self._join_partners(waiting):
            self._joined_since = True
        elif self._joined_since or not self._everywhere:  # there are other groups by now, or further ones
            self._most_compared *= 1 if self._everywhere else 8
            self._in_vain[:] = self._joined_since = False
        elif not self._join_failing(waiting):
            self._join_nearest(int(waiting[0]))

    def _look_for_partners(self, searching: Ints) -> None:
        """Note the cheapest partner that makes each group safe, where there is one."""
        groups = self._groups
        kind_of, examples = groups.kinds()
        searching_kinds, own_row = np.unique(kind_of[searching], return_inverse=True)
        few_kinds = len(searching_kinds) * len(examples) <= _MOST_KINDS_TRIED
        try_kinds = few_kinds and not groups.judged_by_labels
        if try_kinds:
            pairs = np.meshgrid(examples[searching_kinds], examples, indexing="ij")
            safe = groups.judge_pairs(*(ones.ravel() for ones in pairs)).reshape(pairs[0].shape)
            found, costs = self._nearest(searching, 1, own_row, kind_of, safe)
        else:
            found, costs = self._nearest(searching, _NEAREST)
        suits = found >= 0
        if not try_kinds:
            ones = np.broadcast_to(searching[:, None], found.shape)[suits]
            suits[suits] = groups.judge_pairs(ones, found[suits])
        helped = np.flatnonzero(suits.any(axis=1))
        first = suits[helped].argmax(axis=1)
        self._partner[searching[helped]] = found[helped, first]
        self._cost[searching[helped]] = costs[helped, first]
        self._in_vain[searching] = self._partner[searching] == _NONE

    def _nearest(
        self,
        searching: Ints,
        wanted: int,
        own_row: Ints | None = None,
        kind_of: Ints | None = None,
        safe: Bools | None = None,
        *,
        only_failing: bool = False,
    ) -> tuple[Ints, Floats]:
        """Return the groups that each one costs least to join, and what it costs; of `safe` kinds, if given."""
        groups = self._groups
        if own_row is None or kind_of is None or safe is None:
            own_row, kind_of = np.zeros(len(searching), dtype=np.int64), np.zeros(len(groups), dtype=np.int64)
            safe = np.ones((1, 1), dtype=bool)
        found = np.empty((len(searching), wanted), dtype=np.int64)
        costs = np.empty((len(searching), wanted))
        self._kernel.nearest(
            searching, groups.failing, only_failing, own_row, kind_of, safe, *self._cells(searching),
            *groups.layout(), found, costs,
        )  # fmt: skip
        return found, costs

    def _cells(self, searching: Ints) -> tuple[Ints, Ints, Ints]:
        """Return cells to look in: each group's, and the groups of each; not more than can be compared."""
        groups = self._groups
        for place in range(len(self._vectors) - 1, -1, -1):
            keys = groups.cells(self._vectors[place])
            _, cell_of = np.unique(keys, return_inverse=True)
            cells = int(cell_of.max(initial=-1)) + 1
            size = np.bincount(cell_of, minlength=cells)
            if (np.bincount(cell_of[searching], minlength=cells) * size).sum() <= self._most_compared:
                break
        starts = np.concatenate([[0], np.cumsum(size)])
        self._everywhere = place == len(self._vectors) - 1
        return cell_of, np.argsort(cell_of, kind="stable"), starts

    def _join_partners(self, waiting: Ints) -> bool:
        """Join groups with their partners, the cheapest first, or withhold them; return whether any was."""
        groups = self._groups
        ones = waiting[self._partner[waiting] != _NONE]
        cost = self._cost[ones]
        withheld = self._better_withheld(ones, cost)
        taken = np.zeros(len(groups), dtype=bool)
        taken[withheld] = True
        ones = ones[np.lexsort((ones, cost))]
        accepted = ones[self._kernel.match(ones, self._partner[ones], taken)]
        target = np.arange(len(groups))
        target[self._partner[accepted]] = accepted
        target[withheld] = WITHHELD
        return self._replace(target)

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
        found, costs = self._nearest(waiting, 1, only_failing=True)
        order = np.lexsort((waiting, costs[:, 0]))
        order = order[found[order, 0] != _NONE]
        ones, others = waiting[order], found[order, 0]
        accepted = self._kernel.match(ones, others, np.zeros(len(groups), dtype=bool))
        target = np.arange(len(groups))
        target[others[accepted]] = ones[accepted]
        return self._replace(target)

    def _join_cells(self, waiting: Ints) -> bool:
        """Join all failing groups that may be joined, without looking for anything better."""
        keys = self._groups.cells(self._vectors[-1])[waiting]
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
        while not self._groups.judge_union(np.append(order[:enough], one)):
            if enough == len(order):
                return None
            too_few, enough = enough, min(2 * enough, len(order))
        while enough - too_few > 1:
            half = (too_few + enough) // 2
            safe = self._groups.judge_union(np.append(order[:half], one))
            too_few, enough = (too_few, half) if safe else (half, enough)
        return enough

    def _replace(self, target: Ints) -> bool:
        """Join or withhold groups; those that were not touched keep partners that were not."""
        if np.array_equal(target, np.arange(len(target))):
            return False
        partner, cost, in_vain = self._partner, self._cost, self._in_vain
        moved = self._groups.replace(target)
        members = np.bincount(moved[moved >= 0], minlength=len(self._groups))
        alone = (moved >= 0) & (members[moved] == 1)
        kept = np.flatnonzero(alone & (partner != _NONE))
        kept = kept[alone[partner[kept]]]
        self._partner = np.full(len(self._groups), _NONE)
        self._cost = np.full(len(self._groups), np.inf)
        self._partner[moved[kept]] = moved[partner[kept]]
        self._cost[moved[kept]] = cost[kept]
        self._in_vain = np.zeros(len(self._groups), dtype=bool)
        self._in_vain[moved[alone & in_vain]] = True
        self._hopeless = np.zeros(len(self._groups), dtype=bool)
        return True

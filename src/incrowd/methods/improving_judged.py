"""Moves between groups that models judge: many at once, each by the two groups that it touches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from incrowd.common.arrays import Bools, Codes, Ints
from incrowd.common.progress import Progress
from incrowd.core.groups import Groups, LazyHistograms, Regions, histogram
from incrowd.core.model import Model, satisfies_all
from incrowd.core.recoding import Recoding
from incrowd.core.tally import Tally
from incrowd.kernels.improving import Items
from incrowd.kernels.joining import match
from incrowd.methods.improving_budget import Budget
from incrowd.methods.improving_labels import ShownAs, spans
from incrowd.methods.leftover_groups import ranges

_WANTED, _SWAPS = 4, 4
"""Moves that are judged of each item, and members of a group that are tried in its place."""
_AT_ONCE = 1_000_000
"""Members of groups that are judged at once."""
_FEWEST, _MOST = 64, 8192
_IN_VAIN = 2
"""After so many passes without a move, there is no use in going on."""


class Judged:
    """Moves parts of a recoding between groups as far as models allow it."""

    def __init__(
        self,
        tally: Tally,
        sensitive: tuple[str, ...],
        recoding: Recoding,
        shown: ShownAs,
        require: Sequence[Model],
    ) -> None:
        self._tally, self._sensitive, self._require, self._shown = tally, sensitive, tuple(require), shown
        self._columns, self._counts = recoding.columns, recoding.counts
        self._codes = np.stack([tally.column(name)[recoding.tuples] for name in recoding.columns], axis=1)
        self._values = {name: np.ascontiguousarray(tally.column(name)[recoding.tuples]) for name in sensitive}
        self._whole = {name: tally.table_counts(name) for name in sensitive}
        self._tuples = recoding.tuples

    def search(self, items: Items, groups: Ints, budget: Budget, progress: Progress) -> tuple[float, Ints]:
        """Move items until the budget is spent or nothing moves any more; return what is lost then, and the groups."""
        now, number, in_vain, seed, passes = groups.copy(), len(groups), 0, 0, 0
        while in_vain < _IN_VAIN and budget.spent() < 1 and (budget.passes is None or passes < budget.passes):
            order = np.random.default_rng(passes).permutation(number)
            accepted = done = 0
            while done < number and budget.spent() < 1:
                some = order[done : done + self._at_once(now)]
                seed += 1
                accepted += self._step(items, some, seed, now)
                done += len(some)
                share = budget.spent() if budget.passes is None else (passes + done / number) / budget.passes
                progress("improving", min(share, 1.0))
            in_vain = 0 if accepted else in_vain + 1
            passes += 1
        no_values = np.empty((number, 0), dtype=np.int32), np.empty(0, dtype=np.int64)
        return items.anneal(*no_values, 0, 0.0, 1.0, 0, now), now

    def _at_once(self, groups: Ints) -> int:
        """Return how many items to move at once, by how many members the groups of an item have."""
        members = np.bincount(groups[groups >= 0])
        each = 2 * _WANTED * max(float((members**2).sum()) / max(len(groups), 1), 1.0)
        return int(np.clip(_AT_ONCE / each, _FEWEST, _MOST))

    def _step(self, items: Items, some: Ints, seed: int, groups: Ints) -> int:
        """Find moves of some items, judge them, make those that touch no group twice; return how many."""
        targets, partners, changes = items.propose(some, _WANTED, _SWAPS, seed, groups)
        found = changes < 0
        moved = np.broadcast_to(some[:, None], found.shape)[found]
        to, partner, change = targets[found], partners[found], changes[found]
        if not len(moved):
            return 0
        allowed = np.flatnonzero(self._judge(moved, groups, to, partner))
        allowed = allowed[np.lexsort((moved[allowed], change[allowed]))]
        left = np.where(groups[moved] >= 0, groups[moved], to)  # a withheld item leaves no group
        taken = np.zeros(int(groups.max()) + 1, dtype=bool)
        chosen = allowed[match(left[allowed], to[allowed], taken)]
        back = chosen[partner[chosen] >= 0]
        groups[partner[back]] = left[back]
        groups[moved[chosen]] = to[chosen]
        return len(chosen)

    def _judge(self, moved: Ints, groups: Ints, to: Ints, partner: Ints) -> Bools:
        """Return whether the models allow each move: the group that an item joins, and the one that it leaves."""
        order = np.argsort(groups, kind="stable")
        starts = np.searchsorted(groups[order], np.arange(int(groups.max()) + 2))
        number, left = len(moved), groups[moved]
        moves = np.arange(number)
        leaves, comes = np.flatnonzero(left >= 0), np.flatnonzero(partner >= 0)
        # Union 2i is the group that item i joins, 2i + 1 the one that it leaves.
        touched, union = np.concatenate([to, left[leaves]]), np.concatenate([2 * moves, 2 * leaves + 1])
        entries = order[ranges(starts[touched], starts[touched + 1])]
        union_of = np.repeat(union, starts[touched + 1] - starts[touched])
        gone = np.where(union_of % 2 == 0, partner[union_of // 2], moved[union_of // 2])
        entries, union_of = entries[entries != gone], union_of[entries != gone]
        entries = np.concatenate([entries, moved, partner[comes]])
        union_of = np.concatenate([union_of, 2 * moves, 2 * comes + 1])
        filled, dense = np.unique(union_of, return_inverse=True)  # a group that everybody left is none
        fine = np.ones(2 * number, dtype=bool)
        fine[filled] = self.satisfied(entries, dense, len(filled))
        return np.asarray(fine.reshape(-1, 2).all(axis=1))

    def satisfied(self, entries: Ints, group_of: Ints, number: int) -> Bools:
        """Return whether each of some groups satisfies the models, given its members."""
        counts = self._counts[entries]

        def regions() -> Regions:
            lows, highs = spans(self._codes.take(entries, axis=0), group_of, number)
            return Regions(self._columns, *self._shown.runs(lows, highs))

        made = Groups(
            np.bincount(group_of, weights=counts, minlength=number).astype(np.int64),
            LazyHistograms(
                self._sensitive, lambda name: histogram(group_of, self._values[name][entries], counts, number)
            ),
            self._whole,
            self._tally.trees,
            joint=lambda: histogram(group_of, self._joint()[entries], counts, number),
            table=self._tally,
            regions=regions,
        )
        return satisfies_all(self._require, made)

    def _joint(self) -> Codes:
        return self._tally.joint_codes(self._sensitive)[self._tuples]

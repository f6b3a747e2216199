"""Looking at level vectors: which groups one makes, what they lose, and what that says about other vectors.

Three facts bound what a vector loses without looking at it. With nothing withheld, losses that are sums over columns
are known beforehand, and others lose no less than at any more specific vector. A row whose group is too small at a
vector is in a group at least as small at every more specific one, so what withholding it adds here it adds, at least,
at all of these. And a vector that must withhold more than the limit for that reason rules out all more specific ones.

Cost of a look: one pass over a table that is already grouped by the levels of the columns with the most values, so that
it is much smaller than the tally.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from incrowd.common.arrays import Counts, Floats
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups
from incrowd.core.model import Model, least_failing, satisfies_all, stay_safe_joined
from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.core.solutions import UNKNOWN, Solutions
from incrowd.methods.group_losses import GROUP_LOSSES, GroupLoss
from incrowd.methods.lattice import Lattice, Levels, Rows

_COLUMNS_MERGED_FIRST = (3, 6)
"""Rows are added up by the levels of the three columns with the most values, then by those of the first six."""
_SAME = 1e-12
"""Losses that differ by this much, relatively, are the same."""


@dataclass(frozen=True, eq=False)
class Look:
    """What was found at a vector: its loss, rows withheld, and the part of both that holds for all vectors below.

    Where it was not `judged`, since it could not win any more, the first two are only known to be no smaller.
    `unwithheld` is the loss if nothing were withheld, of which all vectors above have at least as much.
    """

    levels: Levels
    cost: float
    withheld: int
    smallest: int
    judged: bool
    unwithheld: float
    withheld_below: int
    added_below: float


class LatticeEvaluation:
    """All that was looked at, and the best of it."""

    def __init__(self, lattice: Lattice, require: Sequence[Model], limit: float, loss: str = "gcp") -> None:
        self.lattice, self.require, self.loss = lattice, tuple(require), loss
        self.rows = lattice.tally.rows
        # A table without rows is no release, whatever the limit.
        self.most_withheld = min(int(np.floor(limit * self.rows + 1e-9)), self.rows - 1)
        self.looks: dict[tuple[int, ...], Look] = {}
        self.best: Look | None = None
        self._min_group = max((model.min_group for model in require), default=1)
        self._prunes_by_verdict = self.most_withheld == 0 and stay_safe_joined(require, lattice.tally.trees)
        columns = range(len(lattice.columns))
        self._by_size = np.array(sorted(columns, key=lambda place: (-lattice.trees[place].size, place)), dtype=np.int64)
        self._tables: dict[tuple[int, ...], Rows] = {}
        self._of_groups: GroupLoss | None = None
        if loss in GROUP_LOSSES:
            self._of_groups = GROUP_LOSSES[loss](lattice.tally, lattice.columns)
            self._scores = np.concatenate([scores.ravel() for scores in self._of_groups.scores])
            self._steps = self._of_groups.steps
        else:
            self._scores = np.concatenate([kept.ravel() for kept in lattice.kept])
            self._steps = lattice.mean_steps()

    @property
    def known_beforehand(self) -> bool:
        """Whether bounds are what vectors lose with nothing withheld, not only no more than that."""
        return self._of_groups is None

    def grid_of_bounds(self) -> Floats:
        """Return a bound of each vector's loss with nothing withheld, one axis per column."""
        total = np.zeros(())
        for steps, allowed in zip(self._steps, self.lattice.levels, strict=True):
            total = total[..., None] + steps[allowed.start : allowed.stop]
        return self._bounds(total)

    def bound(self, levels: Sequence[int]) -> float:
        """Return a bound of one vector's loss with nothing withheld."""
        # Added up in the order of `grid_of_bounds`, so that both are the same number.
        total = 0.0
        for steps, level in zip(self._steps, levels, strict=True):
            total += float(steps[level])
        return float(self._bounds(np.array(total)))

    def _bounds(self, steps: Floats) -> Floats:
        return steps if self._of_groups is None else self._of_groups.bounds(steps)

    @property
    def to_beat(self) -> float:
        """The loss that no worthwhile vector exceeds."""
        return np.inf if self.best is None else self.best.cost * (1 + _SAME)

    def look(self, levels: Levels, bound: float) -> Look:
        """Count the groups at a vector, judge them, and keep it if it is the best so far."""
        key = tuple(levels.tolist())
        if key not in self.looks:
            look = self.looks[key] = self._look(levels, bound)
            if look.judged and look.withheld <= self.most_withheld and self._better(look):
                self.best = look
        return self.looks[key]

    def _better(self, look: Look) -> bool:
        """Whether a vector is better; equal ones go by lower levels, so that the order of looking does not matter."""
        if self.best is None or look.cost < self.best.cost * (1 - _SAME):
            return True
        return look.cost <= self.to_beat and tuple(look.levels) < tuple(self.best.levels)

    def _look(self, levels: Levels, bound: float) -> Look:
        """Look at a vector; skip the models where it cannot beat the best any more."""
        lattice = self.lattice
        rows = self._table(levels)
        group_of, sizes, scores = lattice.count(rows, levels, self._scores)
        unwithheld, kept = self._losses(bound, scores, sizes)
        small = (sizes < self._min_group).astype(np.float64)
        below, added = self._withholding(small, sizes, kept)
        if below > self.most_withheld or unwithheld + added > self.to_beat:
            return Look(levels, unwithheld + added, int(below), UNKNOWN, False, unwithheld, int(below), added)
        judged = lattice.as_groups(rows, group_of, sizes, levels=levels)
        safe = satisfies_all(self.require, judged)
        withheld, extra = self._withholding((~safe).astype(np.float64), sizes, kept)
        below, added = withheld, extra
        if not self._prunes_by_verdict:
            below, added = self._withholding(np.maximum(small, least_failing(self.require, judged)), sizes, kept)
        smallest = int(sizes[safe].min()) if safe.any() else 0
        return Look(
            levels, unwithheld + extra, int(withheld), smallest, True, unwithheld, math.ceil(below - 1e-6), added
        )

    def _losses(self, bound: float, scores: Floats, sizes: Counts) -> tuple[float, Floats]:
        """Return the mean loss with nothing withheld, and what a row of each group keeps that is not withheld."""
        if self._of_groups is None:
            return bound, scores
        lost = self._of_groups.of_groups(scores, sizes)
        return float((lost * sizes).sum()) / self.rows, 1.0 - lost

    def _withholding(self, share: Floats, sizes: Counts, kept: Floats) -> tuple[float, float]:
        """Return how many rows are withheld if a share of each group is, and what that adds to the loss.

        A group's rows all show the same, so that they keep the same; rows of a more specific vector keep no less.
        """
        rows = share * sizes
        return float(rows.sum()), float(rows @ kept) / self.rows

    def _table(self, levels: Levels, stage: int = len(_COLUMNS_MERGED_FIRST)) -> Rows:
        """Return rows already added up by the levels of the columns with the most values, stage by stage."""
        if stage == 0:
            return self.lattice.rows
        merged = self._by_size[: _COLUMNS_MERGED_FIRST[stage - 1]]
        key = (stage, *levels[merged].tolist())
        if key not in self._tables:
            partly = np.zeros_like(levels)
            partly[merged] = levels[merged]
            self._tables[key] = self.lattice.merge(self._table(levels, stage - 1), partly)
        return self._tables[key]

    def groups_at(self, levels: Levels) -> Groups:
        """Return the groups at a vector as models see them."""
        rows = self._table(levels)
        group_of, sizes, _ = self.lattice.count(rows, levels, self._scores)
        return self.lattice.as_groups(rows, group_of, sizes, levels=levels)

    def recode(self, levels: Levels, *, verdict: str) -> Recoding:
        """Return the recoding of a vector: failing groups are withheld."""
        lattice = self.lattice
        rows = lattice.all_rows()
        group_of, groups = lattice.group(rows, levels)
        sizes = np.bincount(group_of, weights=rows.counts, minlength=groups).astype(np.int64)
        kept = satisfies_all(self.require, lattice.as_groups(rows, group_of, sizes, levels=levels))
        renumbered = np.where(kept, np.cumsum(kept) - 1, WITHHELD)
        member = np.zeros(groups, dtype=np.int64)
        member[group_of] = np.arange(len(group_of))
        lows, highs = lattice.runs(rows.codes.take(member[kept], axis=0), levels)
        return Recoding(
            np.arange(len(rows.counts)),
            rows.counts,
            renumbered[group_of],
            lattice.columns,
            lows,
            highs,
            "level",
            tuple(levels.tolist()),
            explored=self._solutions(levels, verdict),
        )

    def _solutions(self, levels: Levels, verdict: str) -> Solutions:
        looks = list(self.looks.values())
        measured = [look.cost for look in looks]
        if self._of_groups is not None:
            measured = [self._of_groups.measured(cost) for cost in measured]
        elif self.loss == "precision":
            measured = [1.0 - cost for cost in measured]
        return Solutions(
            self.lattice.columns,
            np.stack([look.levels for look in looks]),
            np.array(measured),
            np.array([look.withheld for look in looks]),
            np.array([look.smallest for look in looks]),
            np.array([look.judged for look in looks]),
            self.most_withheld,
            list(self.looks).index(tuple(levels.tolist())),
            verdict,
            maximized=self.loss == "precision",
        )

"""Choose what to specialize, step by step, by the exponential mechanism (Mohammed et al. 2011).

A part of the budget goes into this, in equal shares: one for each column of numbers (where its first split would be),
one for each choice of what to specialize, and one for where to split the numbers that have just become a run. A person
is in one of the new runs only, so that choosing where to split both costs as much as one. What is asked, and how many
candidates there are, depends on the hierarchies and on earlier answers alone.
Cost: steps × columns × distinct tuples for `gini`, which looks at the boxes; steps × values for the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from incrowd.common.arrays import Ints
from incrowd.common.progress import Progress
from incrowd.dp.accountant import Accountant
from incrowd.dp.boxes.box_cuts import Cut, Run, Specialization
from incrowd.dp.boxes.box_purity import BoxPurity
from incrowd.dp.boxes.coded_rows import People
from incrowd.dp.boxes.utilities import (
    UNIT,
    Utility,
    in_units,
    information_gain,
    is_monotone,
    majority,
    sensitivity,
    unit_of,
)
from incrowd.dp.budget import Budget
from incrowd.dp.selection import exponential_mechanism, to_units
from incrowd.hierarchies.tree import Tree

Splits = dict[tuple[int, Run], tuple[Run, ...]]


class Specializer:
    """The state of one search."""

    def __init__(
        self,
        people: People,
        trees: Sequence[Tree],
        missing: Sequence[bool],
        utility: Utility,
        rng: np.random.Generator,
        accountant: Accountant,
    ) -> None:
        self._utility, self._rng, self._accountant = utility, rng, accountant
        self._class_count = people.class_count
        self.cuts = [Cut(tree, allowed) for tree, allowed in zip(trees, missing, strict=True)]
        self._boxes = BoxPurity(people) if utility == "gini" else None
        self._before = [_sums_before(people.count_values(column, tree.size)) for column, tree in enumerate(trees)]
        self.steps: list[Specialization] = []
        self.spent = Budget.nothing()

    def run(self, steps: int, budget: Budget, progress: Progress) -> list[Specialization]:
        """Choose at most so many specializations; fewer where nothing is left to specialize."""
        numeric = [column for column, cut in enumerate(self.cuts) if cut.tree.ordered]
        share = budget / (len(numeric) + 2 * steps)
        splits: Splits = {}
        for column in numeric:
            self._spend(f"where to split column {column + 1}", share)
            splits.update(self._split(column, self.cuts[column].runs, share.epsilon))
        for step in range(steps):
            candidates = self._candidates(splits)
            if not candidates:
                break
            self._spend(f"specialization {step + 1}", share)
            chosen = candidates[self._choose(self.scores(candidates), share.epsilon)]
            self.apply(chosen)
            if self.cuts[chosen.column].tree.ordered:
                self._spend(f"where to split after {step + 1}", share)
                splits.update(self._split(chosen.column, chosen.children, share.epsilon))
            progress("specializing", (step + 1) / steps)
        return self.steps

    def _spend(self, what: str, price: Budget) -> None:
        self._accountant.spend(what, price)
        self.spent += price

    def _candidates(self, splits: Splits) -> list[Specialization]:
        found = []
        for column, cut in enumerate(self.cuts):
            for run in cut.runs:
                children = splits.get((column, run), ()) if cut.tree.ordered else cut.children(run)
                if len(children) > 1:
                    found.append(Specialization(column, run, children))
        return found

    def _split(self, column: int, runs: Sequence[Run], epsilon: Fraction) -> Splits:
        """Choose where each run of numbers would be split; missing goes its own way first."""
        found: Splits = {}
        for low, high in runs:
            if low < 1 and high > 1:
                found[column, (low, high)] = ((low, 1), (1, high))
            elif high - low > 1:
                point = low + 1 + self._choose(self.point_scores(column, (low, high)), epsilon)
                found[column, (low, high)] = ((low, point), (point, high))
        return found

    def _choose(self, scores: Ints, epsilon: Fraction) -> int:
        return exponential_mechanism(
            self._rng,
            scores,
            epsilon=epsilon,
            sensitivity=sensitivity(self._utility, self._class_count),
            unit=unit_of(self._utility),
            monotone=is_monotone(self._utility),
        )

    def scores(self, candidates: Sequence[Specialization]) -> Ints:
        """Return the score of each candidate, in units; candidates come by column."""
        if self._boxes is not None:
            return self._boxes.gains(candidates, [cut.tree.size for cut in self.cuts])
        return np.concatenate([self._score(one.column, one.run, np.array([one.children])) for one in candidates])

    def point_scores(self, column: int, run: Run) -> Ints:
        """Return the score of splitting a run of numbers at each point from its second value on."""
        if self._boxes is not None:
            return self._boxes.gains_of_points(column, run)
        points = np.arange(run[0] + 1, run[1])
        left = np.stack([np.full_like(points, run[0]), points], axis=1)
        right = np.stack([points, np.full_like(points, run[1])], axis=1)
        return self._score(column, run, np.stack([left, right], axis=1))

    def _score(self, column: int, run: Run, children: Ints) -> Ints:
        """Return the scores of ways to specialize a run: candidates × children × (low, high)."""
        before = self._before[column]
        pieces = before[children[..., 1]] - before[children[..., 0]]
        if self._utility == "max":
            return majority(pieces)
        if self._utility == "infogain":
            return to_units(information_gain(pieces), UNIT)
        tree = self.cuts[column].tree
        widths = tree.widths(children[..., 0].astype(np.int32), children[..., 1].astype(np.int32))
        low, high = np.array([run], dtype=np.int32).T
        narrower = in_units(tree.widths(low, high)[0] - widths)
        return np.asarray((narrower * pieces.sum(axis=-1)).sum(axis=-1))

    def apply(self, chosen: Specialization) -> None:
        """Make a specialization."""
        self.cuts[chosen.column].specialize(chosen.run, chosen.children)
        self.steps.append(chosen)
        if self._boxes is not None:
            self._boxes.split(chosen)


def _sums_before(counts: Ints) -> Ints:
    """Return, for each code, how many rows of each class have a smaller one; and all rows, at the end."""
    return np.concatenate([np.zeros((1, counts.shape[1]), dtype=np.int64), np.cumsum(counts, axis=0)])

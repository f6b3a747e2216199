"""Choose what to specialize, step by step, by the exponential mechanism (Mohammed et al. 2011).

Half of the budget or so goes into this: an equal share for each choice of a column, and one for each choice of where to
split the numbers that have just become a run. Cost: steps × candidates × distinct tuples for `gini`, which looks at
the boxes; steps × values for the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from incrowd.diffgen.cuts import Cut, Run, Specialization
from incrowd.diffgen.utilities import UNIT, Utility, information_gain, majority, purity, sensitivity
from incrowd.dp.accountant import Accountant
from incrowd.dp.budget import Budget
from incrowd.dp.selection import exponential_mechanism, to_units
from incrowd.hierarchies.tree import Codes, Tree
from incrowd.progress import Progress

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class People:
    """Distinct tuples in public codes, the class of each, and how many rows there are."""

    codes: Codes
    classes: Ints
    class_count: int
    counts: Ints


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
        self._people, self._utility, self._rng, self._accountant = people, utility, rng, accountant
        self.cuts = [Cut(tree, allowed) for tree, allowed in zip(trees, missing, strict=True)]
        self._by_value = [self._count_values(column, tree.size) for column, tree in enumerate(trees)]
        self._box_of = np.zeros(len(people.counts), dtype=np.int64)
        self._boxes = 1
        self.steps: list[Specialization] = []
        self.spent = Budget.nothing()

    def _count_values(self, column: int, size: int) -> Ints:
        people = self._people
        key = people.codes[:, column].astype(np.int64) * people.class_count + people.classes
        counted = np.bincount(key, weights=people.counts, minlength=size * people.class_count)
        return counted.astype(np.int64).reshape(size, people.class_count)

    def run(self, steps: int, budget: Budget, progress: Progress) -> list[Specialization]:
        """Choose at most so many specializations; fewer where nothing is left to specialize."""
        numeric = [column for column, cut in enumerate(self.cuts) if cut.tree.ordered]
        share = budget / (len(numeric) + 2 * steps)
        self._price = share.epsilon
        splits: dict[tuple[int, Run], tuple[Run, ...]] = {}
        for column in numeric:
            self._spend(f"where to split column {column + 1}", share)
            splits.update(self._split(column, self.cuts[column].runs))
        for step in range(steps):
            candidates = self._candidates(splits)
            if not candidates:
                break
            self._spend(f"specialization {step + 1}", share)
            chosen = candidates[self._choose(self._scores(candidates))]
            self._apply(chosen)
            if self.cuts[chosen.column].tree.ordered:
                # People are in one of the new runs only: choosing where to split both costs as much as one.
                self._spend(f"where to split after {step + 1}", share)
                splits.update(self._split(chosen.column, chosen.children))
            progress("specializing", (step + 1) / steps)
        return self.steps

    def _spend(self, what: str, price: Budget) -> None:
        self._accountant.spend(what, price)
        self.spent += price

    def _candidates(self, splits: dict[tuple[int, Run], tuple[Run, ...]]) -> list[Specialization]:
        found = []
        for column, cut in enumerate(self.cuts):
            for run in cut.runs:
                children = splits.get((column, run), ()) if cut.tree.ordered else cut.children(run)
                if len(children) > 1:
                    found.append(Specialization(column, run, children))
        return found

    def _split(self, column: int, runs: Sequence[Run]) -> dict[tuple[int, Run], tuple[Run, ...]]:
        """Choose where each run of numbers would be split; missing goes its own way first."""
        found: dict[tuple[int, Run], tuple[Run, ...]] = {}
        for low, high in runs:
            first = max(low, 1)
            if low < 1 and high > 1:
                found[column, (low, high)] = ((low, 1), (1, high))
            elif high - first > 1:
                options = [((low, point), (point, high)) for point in range(first + 1, high)]
                chosen = self._choose(self._scores([Specialization(column, (low, high), pair) for pair in options]))
                found[column, (low, high)] = options[chosen]
        return found

    def _choose(self, scores: NDArray[np.int64]) -> int:
        # The majority and the width only grow with every person: then half of the mechanism's noise is enough.
        return exponential_mechanism(
            self._rng,
            scores,
            epsilon=self._price,
            sensitivity=sensitivity(self._utility, self._people.class_count),
            unit=Fraction(1) if self._utility == "max" else UNIT,
            monotone=self._utility in ("max", "width"),
        )

    def _scores(self, candidates: Sequence[Specialization]) -> NDArray[np.int64]:
        if self._utility == "gini":
            return to_units(np.array([self._gini(one) for one in candidates]), UNIT)
        if self._utility == "width":
            return to_units(np.array([self._narrowing(one) for one in candidates]), UNIT)
        pieces = [
            np.stack([self._by_value[one.column][low:high].sum(axis=0) for low, high in one.children])
            for one in candidates
        ]
        if self._utility == "max":
            return np.array([majority(piece) for piece in pieces], dtype=np.int64)
        return to_units(np.array([information_gain(piece) for piece in pieces]), UNIT)

    def _gini(self, one: Specialization) -> float:
        """Return how much purer the pieces of all boxes are than the boxes."""
        people, (low, high) = self._people, one.run
        codes = people.codes[:, one.column]
        inside = np.flatnonzero((codes >= low) & (codes < high))
        edges = np.array([child[0] for child in one.children[1:]])
        child = np.searchsorted(edges, codes[inside], side="right")
        boxes, classes = self._boxes, people.class_count
        key = (self._box_of[inside] * len(one.children) + child) * classes + people.classes[inside]
        pieces = np.bincount(key, weights=people.counts[inside], minlength=boxes * len(one.children) * classes)
        pieces = pieces.astype(np.int64).reshape(boxes, len(one.children), classes)
        return float(purity(pieces).sum() - purity(pieces.sum(axis=1)).sum())

    def _narrowing(self, one: Specialization) -> float:
        tree, rows = self.cuts[one.column].tree, self._by_value[one.column].sum(axis=1)

        def width(run: Run) -> float:
            ends = (np.array([end], dtype=np.int32) for end in run)
            return float(tree.widths(*ends)[0])

        gained = [(width(one.run) - width(child)) * float(rows[child[0] : child[1]].sum()) for child in one.children]
        return sum(gained)

    def _apply(self, chosen: Specialization) -> None:
        self.cuts[chosen.column].specialize(chosen.run, chosen.children)
        self.steps.append(chosen)
        codes, (low, high) = self._people.codes[:, chosen.column], chosen.run
        inside = (codes >= low) & (codes < high)
        edges = np.array([child[0] for child in chosen.children[1:]])
        child = np.searchsorted(edges, codes[inside], side="right")
        wide = self._box_of * (len(chosen.children) + 1)
        wide[inside] += child + 1
        _, self._box_of = np.unique(wide, return_inverse=True)
        self._boxes = int(self._box_of.max(initial=-1)) + 1

"""What the DiffGen experiment measures: C4.5 on noisy boxes, and what range counts get wrong.

Everything is in the codes of public trees. A classifier is given random points inside the boxes, with the boxes' class
counts as weights, and both these and the test rows generalized to the columns' cuts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Floats, Ints
from incrowd.common.progress import silent
from incrowd.common.records import dataclass
from incrowd.dp.accountant import Accountant
from incrowd.dp.boxes.box_cuts import Cut
from incrowd.dp.boxes.box_runs import BoxRuns, ColumnRuns
from incrowd.dp.boxes.coded_rows import People
from incrowd.dp.boxes.consistency import algorithm_2, least_squares, published_counts
from incrowd.dp.boxes.level_tree import grow_by_levels
from incrowd.dp.boxes.noisy_tree import NoisyTree, grow_tree, leaf_counts
from incrowd.dp.boxes.specializing import Specializer
from incrowd.dp.boxes.utilities import Utility
from incrowd.dp.budget import Budget
from incrowd.errors import Unsatisfiable
from incrowd.experiments.c45 import C45
from incrowd.experiments.diffgen_claims import ANY_RANGE
from incrowd.hierarchies.tree import Tree
from incrowd.methods.diffgen import ConsistentDiffGen
from incrowd.methods.marginals import MarginalSynthesis
from incrowd.methods.private import PublicTable

POINTS = 8
_MOST_POINTS = 400_000
_BOXES_AT_ONCE = 1 << 11
_DIVIDE_ALL = -1e12
"""So many standard deviations below 0 is nobody: every box is divided, as algorithm 2 is printed."""
_FANOUT, _PATIENCE = ConsistentDiffGen.fanout, ConsistentDiffGen.patience


@dataclass(frozen=True, eq=False)
class Split:
    """A table in public codes, a third of it held out."""

    training: PublicTable
    held_out: People

    @classmethod
    def of(cls, table: PublicTable, rng: np.random.Generator) -> Split:
        """Hold out a third of the rows."""
        people = table.people
        rows = np.repeat(np.arange(len(people.counts)), people.counts)
        out = rng.permutation(len(rows))[: len(rows) // 3]
        held_out = np.bincount(rows[out], minlength=len(people.counts))
        training = replace(people, counts=people.counts - held_out)
        return cls(replace(table, people=training), replace(people, counts=held_out))

    def raw_accuracy(self) -> float:
        """Return the accuracy of C4.5 on raw rows: the paper's baseline BA."""
        people = self.training.people
        values = [np.arange(tree.size, dtype=np.float64) for tree in self.training.trees]
        return self._accuracy(people.codes, people.classes, people.counts, self.held_out.codes, values)

    def majority_accuracy(self) -> float:
        """Return the accuracy of knowing the class only: the paper's lower bound LA."""
        people = self.training.people
        largest = np.bincount(people.classes, weights=people.counts).argmax()
        return float(self.held_out.counts[self.held_out.classes == largest].sum() / self.held_out.counts.sum())

    def accuracy(self, boxes: Boxes, cuts: Sequence[Cut], rng: np.random.Generator) -> float:
        """Return the accuracy of C4.5 that has seen noisy boxes only."""
        some = boxes.counts.sum(axis=1) > 0
        # Many boxes are small ones: then a point or two says where they are.
        repeats = max(1, min(POINTS, _MOST_POINTS // max(int(some.sum()), 1)))
        lows, highs = (np.repeat(ends[some], repeats, axis=0) for ends in (boxes.lows, boxes.highs))
        points = lows + np.floor(rng.random(lows.shape) * (highs - lows)).astype(np.int32)
        features = _generalized(points, cuts)
        classes = self.training.people.class_count
        weights = np.repeat(boxes.counts[some], repeats, axis=0).T.ravel() / repeats
        return self._accuracy(
            np.tile(features, (classes, 1)),
            np.repeat(np.arange(classes), len(features)),
            weights,
            _generalized(self.held_out.codes, cuts),
            [np.array([(low + high - 1) / 2 for low, high in cut.runs]) for cut in cuts],
        )

    def _accuracy(
        self, codes: Codes, classes: Ints, weights: NDArray[np.number], test: Codes, values: Sequence[Floats]
    ) -> float:
        there = weights > 0
        if len(np.unique(classes[there])) < 2:
            return self.majority_accuracy()
        tree = C45.fit(
            codes[there],
            classes[there],
            weights[there].astype(np.float64),
            values=values,
            numeric=[tree.ordered for tree in self.training.trees],
            kinds=self.training.people.class_count,
        )
        right = tree.predict(test) == self.held_out.classes
        return float(self.held_out.counts[right].sum() / self.held_out.counts.sum())


def _generalized(codes: Codes, cuts: Sequence[Cut]) -> Codes:
    """Return the number of the run that each code is in."""
    runs = np.empty_like(codes)
    for column, (cut, size) in enumerate(zip(cuts, codes.max(axis=0, initial=0) + 1, strict=True)):
        starts = np.array([low for low, _ in cut.runs])
        run_of = np.maximum(np.searchsorted(starts, np.arange(size), side="right") - 1, 0)
        runs[:, column] = run_of[codes[:, column]]
    return runs


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes that nothing is in twice, and what is said of how many people of each class are in each."""

    lows: NDArray[np.int32]
    highs: NDArray[np.int32]
    counts: NDArray[np.number]

    @classmethod
    def of_leaves(cls, tree: NoisyTree, counts: NDArray[np.number]) -> Boxes:
        """Take the leaves of a tree."""
        return cls(tree.lows[tree.leaves], tree.highs[tree.leaves], counts[tree.leaves])

    @cached_property
    def _runs(self) -> tuple[ColumnRuns, ...]:
        return BoxRuns.of_boxes(self.lows, self.highs)

    def answers(self, queries: Sequence[NDArray[np.bool_]]) -> Floats:
        """Return how many people satisfy each query; `queries[column]` has a row per query and a code per column."""
        shares_of_runs = []
        for runs, matches in zip(self._runs, queries, strict=True):
            before = np.pad(np.cumsum(matches, axis=1), ((0, 0), (1, 0)))
            shares_of_runs.append((before[:, runs.highs] - before[:, runs.lows]) / (runs.highs - runs.lows))
        answers = np.zeros(len(queries[0]))
        people = self.counts.sum(axis=1).astype(np.float64)
        for first in range(0, len(self.lows), _BOXES_AT_ONCE):
            block = slice(first, first + _BOXES_AT_ONCE)
            shares = np.ones((len(answers), len(self.lows[block])))
            for runs, of_run in zip(self._runs, shares_of_runs, strict=True):
                shares *= of_run[:, runs.of_box[block]]
            answers += shares @ people[block]
        return answers


def specialize(
    table: PublicTable, utility: Utility, steps: int, epsilon: str, structure: Fraction, rng: np.random.Generator
) -> tuple[Specializer, Fraction]:
    """Spend a share of ε on the structure; return it, and what is left."""
    search = Specializer(table.people, table.trees, table.missing, utility, rng, Accountant())
    search.run(steps, Budget(epsilon) * structure, silent)
    return search, Budget(epsilon).less(search.spent).epsilon


def flat_boxes(table: PublicTable, search: Specializer, epsilon: Fraction, rng: np.random.Generator) -> Boxes | None:
    """Return DiffGen's noisy leaves, negative ones too; nothing where they do not fit the memory."""
    try:
        tree = leaf_counts(table.people, search.cuts, epsilon=epsilon, rng=rng)
    except Unsatisfiable:
        return None
    return Boxes.of_leaves(tree, tree.noisy)


def printed_boxes(table: PublicTable, search: Specializer, epsilon: Fraction, rng: np.random.Generator) -> Boxes | None:
    """Return the leaves of algorithm 2 as it is printed: noise on every box of the same tree, then its two passes."""
    try:
        tree = grow_tree(
            table.people, _roots(table), search.steps, search.cuts, epsilon=epsilon, patience=_DIVIDE_ALL, rng=rng
        )
    except Unsatisfiable:
        return None
    return Boxes.of_leaves(tree, algorithm_2(tree.parents, tree.noisy.astype(np.float64)))


def _roots(table: PublicTable) -> list[tuple[int, int]]:
    return [(0 if missing else 1, tree.size) for tree, missing in zip(table.trees, table.missing, strict=True)]


def consistent_tree(table: PublicTable, search: Specializer, epsilon: Fraction, rng: np.random.Generator) -> NoisyTree:
    """Return the tree of Consistent DiffGen, with estimates that agree."""
    tree = grow_by_levels(
        table.people, _roots(table), search.steps, epsilon=epsilon, fanout=_FANOUT, patience=_PATIENCE, rng=rng
    )
    return replace(tree, agreed=least_squares(tree.parents, tree.noisy.astype(np.float64), tree.variances))


def consistent_boxes(table: PublicTable, search: Specializer, epsilon: Fraction, rng: np.random.Generator) -> Boxes:
    """Return the leaves of Consistent DiffGen, as they are published."""
    tree = consistent_tree(table, search, epsilon, rng)
    return Boxes.of_leaves(tree, published_counts(tree))


def true_boxes(table: PublicTable, cuts: Sequence[Cut]) -> Boxes:
    """Return who really is in the boxes that a table's people are in."""
    people = table.people
    lows, highs = np.empty_like(people.codes), np.empty_like(people.codes)
    for column, cut in enumerate(cuts):
        runs = np.array(cut.runs, dtype=np.int32)
        place = np.searchsorted(runs[:, 0], people.codes[:, column], side="right") - 1
        lows[:, column], highs[:, column] = runs[place, 0], runs[place, 1]
    return Boxes(lows, highs, people.counts[:, None])


def draw_queries(
    cuts: Sequence[Cut], number: int, rng: np.random.Generator
) -> Iterator[tuple[str, list[NDArray[np.bool_]]]]:
    """Yield queries by size: about one leaf, about up to a tenth of all leaves, and about more.

    A query is a range of runs in each of some columns; which ones is drawn, whoever is in them.
    """
    wanted = {"one leaf": number, "up to 10 % of leaves": number, "more leaves": number}
    found: dict[str, list[list[NDArray[np.bool_]]]] = {size: [] for size in wanted}
    sizes = [len(cut.runs) for cut in cuts]
    for _ in range(400 * number):
        if all(len(found[size]) >= number for size in wanted):
            break
        narrow = rng.random() if len(found["more leaves"]) >= number else 0.0
        matches, share = [], 1.0
        for cut, runs in zip(cuts, sizes, strict=True):
            first, last = np.sort(rng.integers(0, runs, size=2))
            if rng.random() > max(narrow, 0.3):
                first, last = 0, runs - 1
            if len(found["one leaf"]) < number:
                last = first = int(rng.integers(0, runs))
            mask = np.zeros(cut.tree.size, dtype=bool)
            mask[cut.runs[first][0] : cut.runs[last][1]] = True
            matches.append(mask)
            share *= (last - first + 1) / runs
        leaves = share * float(np.prod(sizes, dtype=np.float64))
        size = "one leaf" if leaves < 1.5 else "up to 10 % of leaves" if share <= 0.1 else "more leaves"
        if len(found[size]) < number:
            found[size].append(matches)
    for size, several in found.items():
        if several:
            yield size, [np.stack(column) for column in zip(*several, strict=True)]


def draw_any_ranges(
    trees: Sequence[Tree], number: int, rng: np.random.Generator
) -> Iterator[tuple[str, list[NDArray[np.bool_]]]]:
    """Yield queries with one, two and three conditions, each a range of a column's values wherever boxes are cut."""
    for conditions in range(1, min(3, len(trees)) + 1):
        asked = [np.ones((number, tree.size), dtype=bool) for tree in trees]
        for query in range(number):
            for column in rng.choice(len(trees), size=conditions, replace=False):
                low, high = np.sort(rng.integers(1, trees[column].size, size=2))
                asked[column][query] = False
                asked[column][query, low : high + 1] = True
        yield f"{conditions} {ANY_RANGE}", asked


def people_boxes(table: PublicTable) -> Boxes:
    """Return who really has which values."""
    people = table.people
    return Boxes(people.codes, people.codes + 1, people.counts[:, None])


def synthetic_boxes(table: PublicTable, epsilon: str, rng: np.random.Generator) -> tuple[Boxes, list[Cut]]:
    """Return rows made from noisy counts of pairs of columns, each a box of single values, and cuts of such."""
    method = MarginalSynthesis(epsilon)
    tree, counts = method.measure(table, rng=rng, progress=silent, accountant=Accountant(limit=method.budget))
    cuts = [Cut.at_level(one, 0, missing=missing) for one, missing in zip(table.trees, table.missing, strict=True)]
    return Boxes(tree.lows, tree.highs, counts), cuts

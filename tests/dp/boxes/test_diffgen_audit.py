"""An empirical audit of the methods end to end: many runs on two tables that differ by one row.

Whoever audits knows the row, and looks where it should be: how often it was chosen to tell it from others, and the
noisy counts of the boxes that hold it. Honest methods stay below the ε that they promise; broken ones do not, nor those
that promise a fortieth of what they spend: so the audit does see the row, and could contradict the promise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest

from incrowd.common.progress import silent
from incrowd.common.randomness import randomness
from incrowd.core.tally import Tally
from incrowd.dp.accountant import Accountant
from incrowd.dp.boxes.noisy_tree import NoisyTree, grow_tree, leaf_counts, longest_path
from incrowd.dp.boxes.specializing import Specializer
from incrowd.dp.budget import Budget
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.flat import Flat
from incrowd.hierarchies.intervals import Intervals
from incrowd.hierarchies.public import public_tree
from incrowd.methods.diffgen import ConsistentDiffGen, DiffGen
from incrowd.methods.flat_histogram import FlatHistogram
from incrowd.methods.hierarchical_histogram import HierarchicalHistogram
from incrowd.methods.private import PrivateMethod, PublicTable
from incrowd.testing.mechanism_audit import AuditResult, audit
from tests.dp.boxes.private_cases import Row, people_of

pytestmark = pytest.mark.slow

SEXES = public_tree("sex", Categories.from_tree(["F", "M"]))
AGES = public_tree("age", Intervals(widths=(1,), lower=0, upper=3))
TARGET: Row = (2, 3, 1)
OTHERS: list[Row] = [(1, 1, 0), (2, 3, 0), (1, 3, 1)]
EPSILON = Fraction(1, 2)
TOO_MUCH = 20
RUNS = 40
"""Half of them are counted: from 20 that all show the row on one table and never on the other, ε is 1.19 or more."""


def table(with_row: bool, trees: tuple[object, ...] = (SEXES, AGES), rows: list[Row] = OTHERS) -> PublicTable:
    people = people_of([*rows, TARGET] if with_row else rows, 2)
    nobody = Tally((), np.empty((0, 0), dtype=np.int32), np.empty(0, dtype=np.int64), {})
    return PublicTable(nobody, ("sex", "age"), trees, (False, False), people, np.array([[1], [2]]))  # type: ignore[arg-type]


TABLES = {with_row: table(with_row) for with_row in (True, False)}


def likelihood(tree: NoisyTree) -> float:
    """Return how much likelier the counts are with the row, as a logarithm: whoever audits knows all other rows.

    Each box that holds the row says so with all of the ε that it was counted with, one way or the other.
    """
    boxes = np.flatnonzero(((tree.lows <= TARGET[:2]) & (np.array(TARGET[:2]) < tree.highs)).all(axis=1))
    others = [
        sum(row[2] == TARGET[2] and all(tree.lows[box] <= row[:2]) and all(row[:2] < tree.highs[box]) for row in OTHERS)
        for box in boxes
    ]
    spent = 2 * np.arcsinh(np.sqrt(0.5 / tree.variances[boxes]))
    return round(float(np.where(tree.noisy[boxes, TARGET[2]] > others, spent, -spent).sum()), 6)


def runner(method: PrivateMethod) -> Callable[[bool, np.random.Generator], float]:
    def run(with_row: bool, rng: np.random.Generator) -> float:
        accountant = Accountant(limit=method.budget)
        tree, _ = method.measure(TABLES[with_row], rng=rng, progress=silent, accountant=accountant)
        assert accountant.total() == method.budget  # all of it, and no more
        return likelihood(tree)

    return run


def audited(run: Callable[[bool, np.random.Generator], object], seed: int, runs: int = RUNS) -> AuditResult:
    return audit(run, runs=runs, rng=randomness(seed))


@pytest.mark.parametrize(
    "method",
    [
        DiffGen(EPSILON, steps=1, structure_share="1/20"),
        DiffGen(EPSILON, steps=2, utility="gini"),
        ConsistentDiffGen(EPSILON, margins_share=0, steps=1, structure_share="1/20", patience=0),
        ConsistentDiffGen(EPSILON, margins_share=0, steps=1, utility="infogain", structure_share="1/20", patience=0),
        ConsistentDiffGen(EPSILON, margins_share=0, steps=3, structure_share="1/20", fanout=2, patience=1),
        ConsistentDiffGen(EPSILON, margins_share=0, steps=3, structure_share="1/20", adjust="algorithm-2"),
        FlatHistogram(EPSILON),
    ],
    ids=lambda method: f"{method.name} {getattr(method, 'utility', '')}",
)
def test_methods_are_as_private_as_they_promise(method: Any) -> None:
    assert not audited(runner(method), 1).contradicts(EPSILON)
    assert audited(runner(replace(method, epsilon=TOO_MUCH)), 1).contradicts(EPSILON)


def test_choices_alone_are_as_private_as_they_promise() -> None:
    """With the row, one of the splits is better than the others; without it, they are alike."""
    people = {row: people_of([(2, 3, 1), (1, 3, 0), (1, 3, 0), (2, 1, 0), *[TARGET] * row], 2) for row in (True, False)}

    def run(with_row: bool, rng: np.random.Generator, epsilon: Fraction | int) -> tuple[object, ...]:
        search = Specializer(people[with_row], (SEXES, AGES), (False, False), "max", rng, Accountant())
        return tuple(search.run(1, Budget(epsilon), silent))

    assert not audited(partial(run, epsilon=EPSILON), 2, runs=100).contradicts(EPSILON)
    assert audited(partial(run, epsilon=TOO_MUCH), 2, runs=100).contradicts(EPSILON)


def test_a_hierarchical_histogram_is_as_private_as_it_promises() -> None:
    tables = {with_row: replace(table(with_row), columns=("age",), trees=(AGES,)) for with_row in (True, False)}
    tables = {
        with_row: replace(one, people=replace(one.people, codes=one.people.codes[:, 1:]), missing=(False,))
        for with_row, one in tables.items()
    }

    def run(with_row: bool, rng: np.random.Generator, epsilon: Fraction | int) -> int:
        method = HierarchicalHistogram(epsilon, branches=2)
        tree, _ = method.measure(tables[with_row], rng=rng, progress=silent, accountant=Accountant())
        holds = (tree.lows[:, 0] <= TARGET[1]) & (TARGET[1] < tree.highs[:, 0])
        return int(tree.noisy[holds, TARGET[2]].sum())

    assert not audited(partial(run, epsilon=EPSILON), 3).contradicts(EPSILON)
    assert audited(partial(run, epsilon=TOO_MUCH), 3).contradicts(EPSILON)


@dataclass(frozen=True)
class Broken:
    """DiffGen or its sibling with one fault."""

    epsilon: Fraction
    noise: Fraction = Fraction(1)
    """By how much the noise of the counts is multiplied."""
    forgets_the_path: bool = False

    def __call__(self, with_row: bool, rng: np.random.Generator) -> float:
        people, epsilon = TABLES[with_row].people, self.epsilon
        search = Specializer(people, (SEXES, AGES), (False, False), "max", rng, Accountant())
        search.run(2, Budget(epsilon / 20), silent)
        left = epsilon * Fraction(19, 20) / self.noise
        if not self.forgets_the_path:
            return likelihood(leaf_counts(people, search.cuts, epsilon=left, rng=rng))
        left *= longest_path(search.cuts)
        roots = [(1, tree.size) for tree in (SEXES, AGES)]
        return likelihood(grow_tree(people, roots, search.steps, search.cuts, epsilon=left, patience=0.0, rng=rng))


MORE = Fraction(3, 2)
"""What is promised where twice or three times as much is spent: few runs then tell them apart."""


def test_half_the_noise_is_found_out() -> None:
    assert not audited(Broken(MORE), 4, runs=160).contradicts(MORE)
    assert audited(Broken(MORE, noise=Fraction(1, 2)), 5, runs=160).contradicts(MORE)


def test_a_budget_that_every_generation_spends_again_is_found_out() -> None:
    assert audited(Broken(MORE, forgets_the_path=True), 6, runs=240).contradicts(MORE)


def test_a_domain_that_was_read_from_the_data_is_found_out() -> None:
    """The row's age is nobody else's: if only ages that are there have boxes, it shows in how many there are."""

    def run(with_row: bool, rng: np.random.Generator) -> int:
        ages = [1, 2, 2] + [3] * with_row
        tree, codes = Flat().build("age", pl.Series(ages))  # what `public_tree` refuses
        people = people_of([(1, int(code), 0) for code in codes], 2)
        search = Specializer(people, (SEXES, tree), (False, False), "max", rng, Accountant())
        search.run(3, Budget(Fraction(1, 2)), silent)
        return len(leaf_counts(people, search.cuts, epsilon=Fraction(1, 2), rng=rng).parents)

    assert audited(run, 7, runs=60).contradicts(1)

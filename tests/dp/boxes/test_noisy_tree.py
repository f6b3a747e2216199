"""Boxes and who is in them: Table II of Qian et al., a naive partition, and how long a person's path is."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from incrowd.common.progress import silent
from incrowd.common.randomness import randomness
from incrowd.datasets import cdiffgen_people
from incrowd.dp.accountant import Accountant
from incrowd.dp.boxes.box_cuts import Cut
from incrowd.dp.boxes.coded_rows import People
from incrowd.dp.boxes.noisy_tree import MOST_COUNTS, NoisyTree, grow_tree, leaf_counts, longest_path, require_room
from incrowd.dp.boxes.specializing import Specializer
from incrowd.dp.budget import Budget
from incrowd.dp.discrete_laplace import variance
from incrowd.errors import Unsatisfiable
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.intervals import Intervals
from incrowd.hierarchies.public import public_codes, public_tree
from tests.dp.boxes.private_cases import NOISELESS, TREES, boxes_of, people_of, random_rows

ROOTS = [(1, tree.size) for tree in TREES]


def test_table_2_of_the_paper() -> None:
    frame = cdiffgen_people()
    hierarchies: dict[str, Hierarchy] = {
        "country": Categories.from_tree({"Asian Country": ["China", "Korea"], "American Country": ["Canada", "USA"]}),
        "age": Intervals(cuts=((25,),)),
    }
    cuts, codes = [], []
    for name, hierarchy in hierarchies.items():
        own, coded = hierarchy.build(name, frame[name])
        public = public_tree(name, hierarchy)
        codes.append(public_codes(name, own, public)[coded])
        cuts.append(Cut(public, missing=False))
    cuts[0].specialize((1, 5), cuts[0].children((1, 5)))
    cuts[1].specialize((1, 3), ((1, 2), (2, 3)))
    people = People(np.stack(codes, axis=1), np.zeros(8, dtype=np.int64), 1, np.ones(8, dtype=np.int64))
    tree = leaf_counts(people, cuts, epsilon=Fraction(NOISELESS), rng=randomness(1))
    assert tree.noisy.ravel().tolist() == [3, 2, 0, 3]  # Asian young, Asian old, American young, American old


def searched(seed: int, rows: list[tuple[int, ...]], steps: int, *, missing: bool = False) -> Specializer:
    search = Specializer(people_of(rows, 2), TREES, (missing, missing), "max", randomness(seed), Accountant())
    search.run(steps, Budget(1), silent)
    return search


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("steps", [1, 3, 7])
def test_every_box_holds_the_people_that_it_should(steps: int, missing: bool) -> None:
    rows = random_rows(np.random.default_rng(steps), 200, 2, first=0 if missing else 1)
    search = searched(steps, rows, steps, missing=missing)
    people = people_of(rows, 2)
    roots = [(0 if missing else 1, tree.size) for tree in TREES]
    tree = grow_tree(
        people, roots, search.steps, search.cuts, epsilon=Fraction(NOISELESS), patience=0.0, rng=randomness(1)
    )
    for box in range(len(tree.parents)):
        inside = [row for row in rows if all(tree.lows[box] <= row[:2]) and all(row[:2] < tree.highs[box])]
        assert tree.noisy[box].tolist() == [sum(row[2] == kind for row in inside) for kind in (0, 1)]
    children = tree.parents >= 0
    sums = np.zeros_like(tree.noisy)
    np.add.at(sums, tree.parents[children], tree.noisy[children])
    inner = np.setdiff1d(np.arange(len(tree.parents)), tree.leaves)
    assert (sums[inner] == tree.noisy[inner]).all()
    # DiffGen has the same leaves, and everybody in them.
    flat = leaf_counts(people, search.cuts, epsilon=Fraction(NOISELESS), rng=randomness(1))
    boxes = boxes_of(rows, [cut.runs for cut in search.cuts])
    assert len(flat.parents) == np.prod([len(cut.runs) for cut in search.cuts])
    by_place = flat.noisy.sum(axis=1).reshape([len(cut.runs) for cut in search.cuts])
    assert {tuple(map(int, place)): int(by_place[tuple(place)]) for place in np.argwhere(by_place)} == {
        place: len(inside) for place, inside in boxes.items()
    }


@pytest.mark.parametrize("seed", range(8))
def test_nobody_could_be_in_more_boxes_than_the_path_is_long_and_somebody_in_as_many(seed: int) -> None:
    """Whatever a person's values are: all combinations are tried."""
    search = searched(seed, [], 1 + seed)
    everybody = [(place, age, 0) for place in range(1, 6) for age in range(1, 6)]
    tree = grow_tree(
        people_of(everybody, 1),
        ROOTS,
        search.steps,
        search.cuts,
        epsilon=Fraction(1),
        patience=0.0,
        rng=randomness(seed),
    )
    full = _without_pruning(search)
    for lows, highs in ((tree.lows, tree.highs), full):
        counted = [
            int(((lows <= person[:2]) & (np.array(person[:2]) < highs)).all(axis=1).sum()) for person in everybody
        ]
        assert max(counted) <= longest_path(search.cuts)
    assert max(counted) == longest_path(search.cuts)


def _without_pruning(search: Specializer) -> tuple[np.ndarray, np.ndarray]:
    """Split all boxes at all steps, naively."""
    boxes = leaves = [tuple(ROOTS)]
    for step in search.steps:
        kept = [box for box in leaves if box[step.column] != step.run]
        made = [
            (*box[: step.column], child, *box[step.column + 1 :])
            for box in leaves
            if box[step.column] == step.run
            for child in step.children
        ]
        leaves, boxes = [*kept, *made], [*boxes, *made]
    both = np.array(boxes)
    return both[..., 0], both[..., 1]


def test_the_path_shares_the_budget() -> None:
    """The noise of every count has the scale of path / ε."""
    search = searched(2, [], 5)
    path = longest_path(search.cuts)
    assert path > 2
    tree = grow_tree(
        people_of([], 2), ROOTS, search.steps, search.cuts, epsilon=Fraction(1), patience=0.0, rng=randomness(2)
    )
    assert set(tree.variances.tolist()) == {variance(Fraction(path))}
    drawn = np.concatenate(
        [
            grow_tree(
                people_of([], 2),
                ROOTS,
                search.steps,
                search.cuts,
                epsilon=Fraction(1),
                patience=0,
                rng=randomness(seed),
            ).noisy[0]
            for seed in range(300)
        ]
    )
    assert abs(drawn.var() / variance(Fraction(path)) - 1) < 0.25


def test_nothing_is_counted_below_a_box_that_seems_empty() -> None:
    rows: list[tuple[int, ...]] = [(1, 1, 0)] * 1000
    search = searched(4, rows, 7)
    tree = grow_tree(
        people_of(rows, 2), ROOTS, search.steps, search.cuts, epsilon=Fraction(10), patience=5.0, rng=randomness(3)
    )
    inner = np.setdiff1d(np.arange(len(tree.parents)), tree.leaves)
    assert (tree.noisy[inner].sum(axis=1) > 900).all()
    assert len(tree.parents) < np.prod([len(cut.runs) for cut in search.cuts]) + len(search.steps)


def test_leaves_are_boxes_without_children() -> None:
    parents = np.array([-1, 0, 0, 1, 1])
    empty = np.zeros((5, 1), dtype=np.int32)
    tree = NoisyTree(parents, empty, empty, np.zeros((5, 1), dtype=np.int64), np.ones(5))
    assert tree.leaves.tolist() == [2, 3, 4]


def test_more_counts_than_fit_are_refused() -> None:
    require_room(MOST_COUNTS)
    with pytest.raises(Unsatisfiable, match="fewer steps"):
        require_room(MOST_COUNTS + 1)


def test_more_classes_than_fit_are_refused_too() -> None:
    cuts = [Cut(tree, missing=False) for tree in TREES]
    people = People(np.empty((0, 2), np.int32), np.empty(0, np.int64), MOST_COUNTS + 1, np.empty(0, np.int64))
    with pytest.raises(Unsatisfiable):
        leaf_counts(people, cuts, epsilon=Fraction(1), rng=randomness(1))

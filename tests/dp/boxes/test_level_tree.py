"""Generations of boxes: who is in them, what a path spends, and what is not counted any further."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.common.progress import silent
from incrowd.common.randomness import randomness
from incrowd.dp.accountant import Accountant
from incrowd.dp.boxes.consistency import least_squares, pooled_variances, published_counts
from incrowd.dp.boxes.level_tree import generations_of, grow_by_levels
from incrowd.dp.boxes.noisy_tree import NoisyTree, leaf_counts
from incrowd.dp.boxes.specializing import Specializer
from incrowd.dp.budget import Budget
from incrowd.dp.discrete_laplace import variance
from tests.dp.boxes.private_cases import NOISELESS, TREES, people_of, random_rows

Row = tuple[int, ...]


def searched(seed: int, rows: list[Row], steps: int, *, missing: bool = False) -> Specializer:
    search = Specializer(people_of(rows, 2), TREES, (missing, missing), "max", randomness(seed), Accountant())
    search.run(steps, Budget(1), silent)
    return search


def grown(search: Specializer, rows: list[Row], epsilon: Fraction, *, first: int = 1, **changes: float) -> NoisyTree:
    given = {"fanout": 3, "patience": 0.0, "seed": 1} | changes
    return grow_by_levels(
        people_of(rows, 2),
        [(first, tree.size) for tree in TREES],
        search.steps,
        epsilon=epsilon,
        fanout=int(given["fanout"]),
        patience=given["patience"],
        rng=randomness(int(given["seed"])),
    )


def holding(tree: NoisyTree, person: Row) -> np.ndarray:
    return np.flatnonzero(((tree.lows <= person[:2]) & (np.array(person[:2]) < tree.highs)).all(axis=1))


@settings(max_examples=10, deadline=None)
@given(
    st.integers(0, 200), st.integers(1, 9), st.integers(2, 30), st.floats(0, 3), st.booleans(), st.integers(0, 10**6)
)
def test_every_box_holds_the_people_that_it_should(
    number: int, steps: int, fanout: int, patience: float, missing: bool, seed: int
) -> None:
    first = 0 if missing else 1
    rows = random_rows(np.random.default_rng(seed), number, 2, first=first)
    search = searched(seed, rows, steps, missing=missing)
    tree = grown(search, rows, Fraction(NOISELESS), fanout=fanout, patience=patience, first=first)
    for box in range(len(tree.parents)):
        inside = [row for row in rows if all(tree.lows[box] <= row[:2]) and all(row[:2] < tree.highs[box])]
        assert tree.noisy[box].tolist() == [sum(row[2] == kind for row in inside) for kind in (0, 1)]
    sums = np.zeros_like(tree.noisy)
    children = np.flatnonzero(tree.parents >= 0)
    assert (tree.parents[children] < children).all()
    np.add.at(sums, tree.parents[children], tree.noisy[children])
    inner = np.setdiff1d(np.arange(len(tree.parents)), tree.leaves)
    assert (sums[inner] == tree.noisy[inner]).all()


@pytest.mark.parametrize("patience", [0.0, 1.0, 100.0])
@pytest.mark.parametrize("fanout", [2, 3, 8, 1000])
@pytest.mark.parametrize("seed", range(4))
def test_what_everybody_could_spend_is_all_of_epsilon(seed: int, fanout: int, patience: float) -> None:
    """The ε of a count is worked out from its noise; whatever a person's values are, it adds up to the whole."""
    search = searched(seed, [], 2 + 2 * seed)
    everybody: list[Row] = [(place, age, 0) for place in range(1, 6) for age in range(1, 6)]
    tree = grown(search, everybody, Fraction(3, 2), fanout=fanout, patience=patience, seed=seed)
    spent = 2 * np.arcsinh(np.sqrt(0.5 / tree.variances))
    for person in everybody:
        boxes = holding(tree, person)
        assert spent[boxes].sum() == pytest.approx(1.5)
        assert len(set(tree.parents[boxes])) == len(boxes)  # one below the other


def test_the_noise_is_that_of_the_variances() -> None:
    search = searched(2, [], 5)
    drawn = [grown(search, [], Fraction(1), fanout=2, seed=seed) for seed in range(250)]
    assert len(drawn[0].parents) > 1
    ratios = np.concatenate([tree.noisy.ravel() / np.sqrt(np.repeat(tree.variances, 2)) for tree in drawn])
    assert abs(ratios.var() - 1) < 0.1
    roots = np.concatenate([tree.noisy[0] for tree in drawn])
    assert abs(roots.var() / drawn[0].variances[0] - 1) < 0.3


def test_generations_by_hand() -> None:
    steps = searched(3, random_rows(np.random.default_rng(3), 100, 2), 7).steps
    for fanout in (2, 3, 5, 10**9):
        found = generations_of(steps, fanout)
        assert [step for together in found for step in together] == steps
        runs, before = [1, 1], 1
        for place, together in enumerate(found):
            for number, step in enumerate(together):
                runs[step.column] += len(step.children) - 1
                enough = math.prod(runs) >= fanout * before
                assert enough == (number == len(together) - 1) or place == len(found) - 1
            before = math.prod(runs)
    assert generations_of([], 5) == []


def test_nothing_to_specialize_is_one_count_with_all_of_epsilon() -> None:
    search = Specializer(people_of([], 2), TREES, (False, False), "max", randomness(1), Accountant())
    tree = grown(search, [(1, 1, 0)], Fraction(1))
    assert tree.parents.tolist() == [-1]
    assert tree.variances.tolist() == [variance(Fraction(1))]


def test_what_seems_empty_is_counted_once_more_and_not_divided() -> None:
    rows: list[Row] = [(1, 1, 0)] * 1000
    search = searched(4, rows, 7)
    tree = grown(search, rows, Fraction(10), fanout=2, patience=5.0)
    for box in np.setdiff1d(np.arange(len(tree.parents)), tree.leaves):
        below = np.flatnonzero(tree.parents == box)
        same = len(below) == 1 and (tree.lows[below[0]] == tree.lows[box]).all()
        seems_empty = tree.noisy[box].sum() < 5 * np.sqrt(2 * tree.variances[box])
        assert same >= seems_empty
    boxes = leaf_counts(people_of(rows, 2), search.cuts, epsilon=Fraction(1), rng=randomness(1)).parents
    assert len(tree.leaves) < len(boxes)


def test_estimates_agree_and_published_counts_are_whole_and_not_negative() -> None:
    rows = random_rows(np.random.default_rng(5), 60, 2)
    tree = grown(searched(5, rows, 6), rows, Fraction(1, 2), fanout=2, patience=0.5, seed=5)
    agreed = least_squares(tree.parents, tree.noisy.astype(float), tree.variances)
    tree = NoisyTree(tree.parents, tree.lows, tree.highs, tree.noisy, tree.variances, agreed)
    for counts in (agreed, published_counts(tree)):
        sums = np.zeros_like(counts)
        np.add.at(sums, tree.parents[1:], counts[1:])
        inner = np.setdiff1d(np.arange(len(tree.parents)), tree.leaves)
        assert sums[inner] == pytest.approx(counts[inner])
    assert (counts >= 0).all()


def test_pooled_variances_are_those_of_the_best_estimate_from_below() -> None:
    """By hand: a box of variance 4 over children of 1 and 2, one of which was counted once more with variance 2."""
    parents, variances = np.array([-1, 0, 0, 2]), np.array([4.0, 1.0, 2.0, 2.0])
    assert pooled_variances(parents, variances).tolist() == pytest.approx([4 * 2 / 6, 1.0, 1.0, 2.0])
    assert pooled_variances(parents, np.array([np.inf, 1.0, 2.0, 2.0]))[0] == pytest.approx(2.0)

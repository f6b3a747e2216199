"""Which pairs are chosen: the best tree where there is no noise, and scores that one row changes by one at most."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.common.randomness import randomness
from incrowd.dp.accountant import Accountant
from incrowd.dp.budget import Budget
from incrowd.dp.marginals.cells import Column, WideCells
from incrowd.dp.marginals.spanning import UNIT, choose_tree, pair_counts, score

SIZES = [2, 3, 4, 2, 3]


def columns_of(codes: np.ndarray, classes: np.ndarray) -> list[WideCells]:
    found = []
    for place, size in enumerate(SIZES):
        noisy = np.zeros((size, 2), dtype=np.int64)
        np.add.at(noisy, (codes[:, place], classes), 1)
        found.append(WideCells(Column(str(place), codes[:, place], noisy, 1.0), np.arange(size)))
    return found


def rows(seed: int, number: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Return rows in which column 2 follows 1, and 4 follows 0."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, size, size=number) for size in SIZES], axis=1)
    codes[:, 2] = np.where(rng.random(number) < 0.9, codes[:, 1], codes[:, 2])
    codes[:, 4] = np.where(rng.random(number) < 0.7, codes[:, 0], codes[:, 4])
    return codes, rng.integers(0, 2, size=number)


def chosen(seed: int, epsilon: int, noise: Fraction = Fraction(0)) -> list[tuple[int, int]]:
    codes, classes = rows(seed)
    counts, totals = np.ones(len(codes), dtype=np.int64), np.bincount(classes, minlength=2).astype(float)
    accountant = Accountant(limit=Budget(epsilon))
    tree = choose_tree(
        columns_of(codes, classes),
        classes,
        counts,
        totals,
        budget=Budget(epsilon),
        noise=noise,
        rng=randomness(seed),
        accountant=accountant,
    )
    assert accountant.total() == Budget(epsilon)
    assert len(accountant.entries) == len(SIZES) - 1
    return tree


def distance(codes: np.ndarray, classes: np.ndarray, first: int, second: int) -> float:
    """Return how far two columns are from independence, class by class, row by row."""
    found = 0.0
    for kind in (0, 1):
        inside = codes[classes == kind]
        for a in range(SIZES[first]):
            for b in range(SIZES[second]):
                both = ((inside[:, first] == a) & (inside[:, second] == b)).sum()
                expected = (inside[:, first] == a).sum() * (inside[:, second] == b).sum() / len(inside)
                found += abs(both - expected)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_without_noise_the_tree_is_the_best_one(seed: int) -> None:
    """Kruskal's algorithm, naively."""
    codes, classes = rows(seed)
    pairs = [(a, b) for a in range(5) for b in range(a + 1, 5)]
    pairs.sort(key=lambda pair: -distance(codes, classes, *pair))
    part, expected = {place: {place} for place in range(5)}, set()
    for first, second in pairs:
        if second not in part[first]:
            expected.add((first, second))
            union = part[first] | part[second]
            part.update(dict.fromkeys(union, union))
    assert set(chosen(seed, 10**7)) == expected
    assert {(1, 2), (0, 4)} <= expected


@pytest.mark.parametrize("seed", range(6))
def test_any_tree_joins_all_columns(seed: int) -> None:
    tree = chosen(seed, 1)
    joined = {0}
    for _ in range(len(tree)):
        joined |= {place for pair in tree if joined & set(pair) for place in pair}
    assert joined == set(range(5))
    assert len(set(tree)) == 4


def test_pairs_with_more_cells_than_they_are_worth_come_last() -> None:
    assert (1, 2) in chosen(1, 10**7)[:2]
    assert (1, 2) not in chosen(1, 10**7, noise=Fraction(1000))[:2]


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 1)), max_size=30),
    st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 1)),
    st.lists(st.floats(0, 50), min_size=12, max_size=12),
    st.fractions(0, 5),
)
def test_one_row_changes_a_score_by_one_at_most(
    others: list[tuple[int, int, int]], row: tuple[int, int, int], expected: list[float], noise: Fraction
) -> None:
    found = []
    for people in (others, [*others, row]):
        cells = np.array(people, dtype=np.int64).reshape(-1, 3)
        first, second = (
            WideCells(Column(str(place), cells[:, place], np.zeros((size, 2), dtype=np.int64), 1.0), np.arange(size))
            for place, size in ((0, 3), (1, 2))
        )
        counts = pair_counts(first, second, cells[:, 2], 2, np.ones(len(cells), dtype=np.int64))
        assert counts.sum() == len(people)
        found.append(score(counts, np.array(expected).reshape(3, 2, 2), noise))
    assert abs(found[0] - found[1]) <= UNIT.denominator

"""Counts that agree: the nearest ones, against a dense solver, and against all tables there could be."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import nnls

from incrowd.dp.marginals.agreement import Agreement, Marginals
from incrowd.dp.marginals.spanning import Pair

TREES: list[tuple[list[int], list[Pair]]] = [
    ([2, 3], [(0, 1)]),
    ([2, 3, 2], [(0, 1), (1, 2)]),
    ([3, 2, 2], [(0, 2), (0, 1)]),
    ([2, 2, 3, 2], [(1, 2), (0, 1), (1, 3)]),
    ([4], []),
    ([1, 3, 1], [(0, 1), (1, 2)]),
]


def projections(sizes: list[int], tree: list[Pair]) -> list[np.ndarray]:
    """Return, for each marginal, the matrix that takes a whole table (all combinations) to its counts."""
    cells = list(product(*[range(size) for size in sizes]))
    found = []
    for columns in [(place,) for place in range(len(sizes))] + list(tree):
        values = list(product(*[range(sizes[place]) for place in columns]))
        matrix = np.zeros((len(values), len(cells)))
        for number, cell in enumerate(cells):
            matrix[values.index(tuple(cell[place] for place in columns)), number] = 1
        found.append(matrix)
    return found


def noisy_case(
    sizes: list[int], tree: list[Pair], seed: int, spread: float = 4.0
) -> tuple[Marginals, Agreement, list[np.ndarray]]:
    """Return noisy counts of a random table, their agreement, and matrices and variances one after the other."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 9, size=int(np.prod(sizes))).astype(float)
    single_variances = [rng.uniform(0.5, 9, size=size) for size in sizes]
    matrices = projections(sizes, tree)
    spreads = [*single_variances, *[np.full(sizes[a] * sizes[b], spread) for a, b in tree]]
    counted = [
        matrix @ table + rng.normal(size=len(matrix)) * np.sqrt(v) for matrix, v in zip(matrices, spreads, strict=True)
    ]
    marginals = Marginals(
        [one[:, None] for one in counted[: len(sizes)]],
        [one.reshape(sizes[a], sizes[b], 1) for one, (a, b) in zip(counted[len(sizes) :], tree, strict=True)],
    )
    stacked = [np.concatenate(matrices), np.concatenate(counted), np.concatenate(spreads)]
    return marginals, Agreement(tree, single_variances, spread), stacked


def flat(marginals: Marginals) -> np.ndarray:
    return np.concatenate([one.ravel() for one in (*marginals.singles, *marginals.pairs)])


@pytest.mark.parametrize(("sizes", "tree"), TREES, ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_counts_that_agree_are_those_of_a_dense_solver(
    sizes: list[int], tree: list[Pair], seed: int
) -> None:
    """Every table of numbers, negative ones too, has counts that agree, and all counts that agree have such a table."""
    marginals, agreement, (matrix, counted, spreads) = noisy_case(sizes, tree, seed)
    weights = 1 / np.sqrt(spreads)
    table = np.linalg.lstsq(matrix * weights[:, None], counted * weights, rcond=None)[0]
    assert flat(agreement.nearest(marginals)) == pytest.approx(matrix @ table)


@pytest.mark.parametrize(("sizes", "tree"), TREES, ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_that_are_not_negative_are_those_of_some_table_of_people(
    sizes: list[int], tree: list[Pair], seed: int
) -> None:
    """The best of all tables without negative counts has these marginals, because pairs form a tree."""
    marginals, agreement, (matrix, counted, spreads) = noisy_case(sizes, tree, seed, spread=60.0)
    weights = 1 / np.sqrt(spreads)
    table, _ = nnls(matrix * weights[:, None], counted * weights, maxiter=10_000)
    found = flat(agreement.nearest_not_negative(marginals))
    assert (found >= 0).all()
    assert found == pytest.approx(matrix @ table, abs=0.05)


def test_classes_do_not_touch_each_other() -> None:
    sizes, tree = TREES[3]
    first, agreement, _ = noisy_case(sizes, tree, 1, spread=60.0)
    second, _, _ = noisy_case(sizes, tree, 2, spread=60.0)
    both = Marginals(
        [np.concatenate(pair, axis=-1) for pair in zip(first.singles, second.singles, strict=True)],
        [np.concatenate(pair, axis=-1) for pair in zip(first.pairs, second.pairs, strict=True)],
    )
    together = agreement.nearest_not_negative(both)
    for number, alone in enumerate((first, second)):
        expected = agreement.nearest_not_negative(alone)
        one = Marginals([x[..., [number]] for x in together.singles], [x[..., [number]] for x in together.pairs])
        assert flat(one) == pytest.approx(flat(expected), abs=0.01)


def test_counts_without_noise_stay_as_they_are() -> None:
    rng = np.random.default_rng(3)
    table = rng.integers(0, 5, size=(3, 4)).astype(float)
    marginals = Marginals([table.sum(axis=1)[:, None], table.sum(axis=0)[:, None]], [table[..., None]])
    agreement = Agreement([(0, 1)], [np.zeros(3), np.zeros(4)], 0.0)
    assert flat(agreement.nearest_not_negative(marginals)) == pytest.approx(flat(marginals))

"""Junction trees, beliefs and maximum entropy: against tables that are added up whole."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from scipy.special import logsumexp

from incrowd.dp.synthesis.beliefs import clique_tables, tree_arrays
from incrowd.dp.synthesis.junction_tree import Columns, JunctionTree, cliques_of, graph_of
from incrowd.dp.synthesis.maximum_entropy import fit
from incrowd.dp.synthesis.measurement import Measurement, grouped
from incrowd.kernels.potentials import likely_cells

SIZES = np.array([3, 2, 4, 2, 3])
SETS = st.lists(
    st.sets(st.integers(0, 4), min_size=1, max_size=3).map(lambda one: tuple(sorted(one))), min_size=1, max_size=7
)


def with_singles(sets: list[Columns]) -> list[Columns]:
    return [*sets, *((column,) for column in range(len(SIZES)))]


@given(SETS)
@settings(max_examples=10)
def test_a_tree_holds_all_sets_and_every_column_is_in_one_piece(sets: list[Columns]) -> None:
    tree = JunctionTree.of(SIZES, with_singles(sets))
    for one in with_singles(sets):
        assert set(one) <= set(tree.cliques[tree.host(one)])
    for place, (above, shared) in enumerate(zip(tree.parents, tree.shared, strict=True)):
        assert above < place
        if above >= 0:
            assert set(shared) == set(tree.cliques[place]) & set(tree.cliques[above])
    for column in range(
        len(SIZES)
    ):  # running intersection: of the cliques with a column, one alone is not below another
        tops = [p for p, one in enumerate(tree.cliques) if column in one and column not in tree.shared[p]]
        assert len(tops) == 1
    _, cells = cliques_of(graph_of(len(SIZES), with_singles(sets)), SIZES)
    assert cells >= sum(np.prod(SIZES[list(one)]) for one in tree.cliques) - 1e-6


def beliefs_of(tree: JunctionTree, sizes: np.ndarray, potentials: list[np.ndarray]) -> tuple[list[np.ndarray], float]:
    """Return each clique's probabilities, from one potential for each of its cells."""
    measured = [
        measurement(clique, potential, 0.0, tuple(np.arange(size) for size in potential.shape))
        for clique, potential in zip(tree.cliques, potentials, strict=True)
    ]
    arrays = tree_arrays(tree, sizes, measured)
    log_sum, found, _ = likely_cells(arrays, np.concatenate([one.ravel() for one in potentials]))
    return clique_tables(tree, arrays, found), log_sum


@given(SETS, st.integers(0, 2**32 - 1), st.sampled_from([0.1, 4.0, 300.0]))
@settings(max_examples=14)
def test_beliefs_are_those_of_the_whole_table(sets: list[Columns], seed: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    tree = JunctionTree.of(SIZES, with_singles(sets))
    potentials = [rng.normal(size=SIZES[list(clique)]) * spread for clique in tree.cliques]
    found, log_sum = beliefs_of(tree, SIZES, potentials)
    whole = np.zeros(SIZES)
    for clique, potential in zip(tree.cliques, potentials, strict=True):
        whole = whole + potential.reshape([SIZES[axis] if axis in clique else 1 for axis in range(len(SIZES))])
    assert log_sum == pytest.approx(logsumexp(whole), rel=1e-12)
    shares = np.exp(whole - log_sum)
    for clique, belief in zip(tree.cliques, found, strict=True):
        others = tuple(axis for axis in range(len(SIZES)) if axis not in clique)
        np.testing.assert_allclose(belief, shares.sum(axis=others), atol=1e-12)


def measurement(columns: Columns, noisy: np.ndarray, ridge: float, starts: tuple[np.ndarray, ...] = ()) -> Measurement:
    starts = starts or tuple(np.arange(size) for size in noisy.shape)
    return Measurement(columns, starts, noisy.astype(np.float64), np.full(noisy.shape, ridge))


def test_counts_without_noise_are_met() -> None:
    rng = np.random.default_rng(1)
    table = rng.integers(1, 30, size=SIZES).astype(np.float64)
    taken = [
        measurement(pair, table.sum(axis=tuple(axis for axis in range(5) if axis not in pair)), 1e-9)
        for pair in combinations(range(5), 2)
    ]
    model = fit(SIZES, taken, float(table.sum()), most_steps=500, near=1e-6)
    for one in taken:
        np.testing.assert_allclose(model.expected(one) * table.sum(), one.noisy, rtol=1e-4)


def test_it_is_the_least_point_that_a_general_solver_finds() -> None:
    """Over all tables: N·KL(p | even) + Σ (expected − counted)²/(2r), by its values at the found point and nearby."""
    rng = np.random.default_rng(2)
    sizes = np.array([2, 3, 2])
    taken = [
        measurement((0, 1), rng.integers(-5, 60, size=(2, 3)), 20.0),
        measurement((1, 2), rng.integers(-5, 60, size=(2, 2)), 30.0, (np.array([0, 2]), np.arange(2))),
        measurement((0, 2), rng.integers(-5, 60, size=(2, 2)), 5.0),
    ]
    rows = 150.0

    def worth(logits: np.ndarray) -> float:
        shares = np.exp(logits - logits.max())
        shares = (shares / shares.sum()).reshape(sizes)
        found = rows * float((shares * np.log(shares)).sum())
        for one in taken:
            others = tuple(axis for axis in range(3) if axis not in one.columns)
            expected = grouped(shares.sum(axis=others), one.starts) * rows
            wanted = one.noisy + (rows - one.noisy.sum()) / one.noisy.size
            found += float(((expected - wanted) ** 2 / (2 * one.ridge)).sum())
        return found

    best = optimize.minimize(worth, np.zeros(12), method="BFGS", options={"gtol": 1e-9})
    model = fit(sizes, taken, rows, most_steps=500, near=1e-9)
    shares = np.exp(best.x - best.x.max())
    shares = (shares / shares.sum()).reshape(sizes)
    for one in taken:
        others = tuple(axis for axis in range(3) if axis not in one.columns)
        np.testing.assert_allclose(
            model.expected(one) * rows, grouped(shares.sum(axis=others), one.starts) * rows, atol=1e-2
        )


def test_a_start_nearby_takes_fewer_steps_and_comes_to_the_same() -> None:
    rng = np.random.default_rng(3)
    taken = [measurement(pair, rng.integers(0, 90, size=SIZES[list(pair)]), 40.0) for pair in combinations(range(5), 2)]
    before = fit(SIZES, taken[:-1], 500.0, most_steps=500, near=1e-7)
    cold = fit(SIZES, taken, 500.0, most_steps=500, near=1e-7)
    warm = fit(SIZES, taken, 500.0, before.potentials, most_steps=500, near=1e-7)
    assert warm.steps < cold.steps
    for one in taken:
        np.testing.assert_allclose(warm.expected(one), cold.expected(one), atol=1e-6)


@pytest.mark.parametrize("rows", [0.0, 1.0, 50.0])
def test_counts_of_nothing_but_noise_give_a_model_all_the_same(rows: float) -> None:
    taken = [measurement((0, 1), np.array([[-90, 3], [2, -70], [0, 0]]), 100.0), measurement((2,), np.zeros(4), 1.0)]
    model = fit(SIZES, taken, rows, most_steps=100, near=0.01)
    for belief in model.probabilities:
        assert belief.sum() == pytest.approx(1.0)
        assert np.isfinite(belief).all()
        assert (belief >= 0).all()

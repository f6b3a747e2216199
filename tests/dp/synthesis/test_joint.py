"""What a model says of columns far apart, and the loops below choices, against sums over the whole table."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.dp.synthesis.candidates import UNIT, Candidates, sets_of, that_fit
from incrowd.dp.synthesis.columns import Cells, ModelColumn
from incrowd.dp.synthesis.joint import Joint
from incrowd.dp.synthesis.junction_tree import Columns, JunctionTree, cells_with, cliques_of, graph_of
from incrowd.dp.synthesis.maximum_entropy import Fitted
from tests.dp.synthesis.test_model import beliefs_of

SIZES = np.array([2, 3, 2, 4, 3, 2])
CLASS = len(SIZES) - 1
SETS = st.lists(st.sets(st.integers(0, CLASS), min_size=2, max_size=3).map(lambda one: tuple(sorted(one))), max_size=6)


@given(SETS, st.booleans(), st.integers(0, 2**32 - 1))
@settings(max_examples=22)
def test_tables_of_all_pairs_are_those_of_the_whole_table(sets: list[Columns], by_class: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    counted = [*sets, *((column,) for column in range(len(SIZES)))]
    if by_class:
        counted = [tuple(sorted({*one, CLASS})) for one in counted]
    tree = JunctionTree.of(SIZES, counted)
    potentials = [rng.normal(size=SIZES[list(clique)]) * 3 for clique in tree.cliques]
    whole = np.zeros(SIZES)
    for clique, potential in zip(tree.cliques, potentials, strict=True):
        whole = whole + potential.reshape([SIZES[axis] if axis in clique else 1 for axis in range(len(SIZES))])
    shares = np.exp(whole) / np.exp(whole).sum()
    model = Fitted(tree, beliefs_of(tree, SIZES, potentials)[0], potentials, 0)
    wanted = sets_of(len(SIZES), CLASS if by_class else None)
    found = Joint(model, CLASS if by_class else None).tables(wanted)
    assert set(found) == set(wanted)
    for columns, table in found.items():
        others = tuple(axis for axis in range(len(SIZES)) if axis not in columns)
        np.testing.assert_allclose(table, shares.sum(axis=others), atol=1e-12)


def naive_cells(graph: np.ndarray, sizes: np.ndarray) -> float:
    """Take out the column with the smallest clique, as sets of neighbours."""
    near = {one: {other for other in range(len(sizes)) if graph[one, other]} for one in range(len(sizes))}
    cells = 0.0
    while near:
        out = min(near, key=lambda one: (float(np.log(sizes[sorted(near[one])]).sum()), one))
        clique = near.pop(out)
        cells += float(np.prod(sizes[sorted(clique)]))
        for one in clique - {out}:
            near[one] = (near[one] | clique) - {out}
    return cells


def test_columns_are_taken_out_as_sets_of_neighbours_are() -> None:
    rng = np.random.default_rng(4)
    sizes = np.array([2, 3, 5, 7, 11, 13] * 12)  # more than a word of 64 columns
    pairs = [tuple(sorted(rng.choice(len(sizes), 2, replace=False).tolist())) for _ in range(60)]
    graph = graph_of(len(sizes), pairs)
    assert cliques_of(graph, sizes)[1] == pytest.approx(naive_cells(graph, sizes))
    more = [(0, 70), (3, 9, 65), (1, 2)]
    found = cells_with(graph, sizes, more, 1e30)
    for one, cells in zip(more, found, strict=True):
        assert cells == pytest.approx(naive_cells(graph_of(len(sizes), [*pairs, one]), sizes))
    assert cells_with(graph, sizes, more[:1], 10.0)[0] > 10.0


def test_scores_are_distances_of_grouped_counts_less_noise() -> None:
    rng = np.random.default_rng(5)
    tuples, counts = 500, rng.integers(1, 9, 500)
    columns = [
        ModelColumn.of(Cells(f"c{size}", rng.integers(0, size, tuples), size), np.full(size, 100.0), (24, 6, 3))
        for size in (30, 4, 2)
    ]
    candidates = Candidates(columns, counts)
    open_ones = candidates.of(sets_of(3, 2), 2, 3)
    said = {one.columns: rng.dirichlet(np.ones(candidates.sizes[list(one.columns)].prod())) for one in open_ones}
    said = {one: table.reshape(candidates.sizes[list(one)]) for one, table in said.items()}
    found = candidates.scores(open_ones, said, 2000.0, 1.5)
    assert {one.level for one in open_ones} == {0, 1, 2}
    for one, got in zip(open_ones, found, strict=True):
        true = np.zeros(candidates.sizes[list(one.columns)], dtype=np.int64)
        np.add.at(true, tuple(columns[place].places for place in one.columns), counts)
        np.testing.assert_array_equal(candidates.true_counts(one), one.grouped(true))
        expected = np.rint(one.grouped(said[one.columns]) * 2000 * UNIT.denominator)
        distance = np.abs(one.grouped(true) * UNIT.denominator - expected).sum()
        assert abs(got - one.weight * (distance - one.cells * 1.5 * UNIT.denominator)) <= one.weight * one.cells


def test_sets_that_are_in_the_tree_already_fit() -> None:
    columns = [ModelColumn.of(Cells("c", np.zeros(1, dtype=np.int64), 10), np.full(10, 9.0)) for _ in range(4)]
    candidates = Candidates(columns, np.ones(1, dtype=np.int64))
    open_ones = [candidates.finest(one) for one in combinations(range(4), 2)]
    # Each column taken out counts: 100 + 10 + 10 + 10 with one pair, 100 + 100 + 10 + 10 with two.
    for most, expected in ((50, [(0, 1)]), (219, [(0, 1)]), (221, [one.columns for one in open_ones])):
        fits = that_fit(open_ones, candidates.sizes, [(0, 1)], most_cells=most)
        assert [one.columns for one, fit in zip(open_ones, fits, strict=True) if fit] == expected

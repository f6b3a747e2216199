"""Rows that have given counts: whole numbers, nothing lost, and chance that favours nobody."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.common.randomness import randomness
from incrowd.dp.marginals.agreement import Marginals
from incrowd.dp.marginals.cells import Column, WideCells
from incrowd.dp.marginals.generating import attach, deal, generate


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=4),
    st.lists(st.floats(0, 10), min_size=1, max_size=6),
    st.integers(0, 1000),
)
def test_totals_are_dealt_out_to_the_last_row(totals: list[int], weights: list[float], seed: int) -> None:
    lines = np.tile(weights, (len(totals), 1))
    dealt = deal(np.array(totals), lines, randomness(seed))
    assert dealt.sum(axis=1).tolist() == totals
    assert (dealt >= 0).all()
    shares = lines / lines.sum(axis=1, keepdims=True) if sum(weights) > 0 else np.full(lines.shape, 1 / len(weights))
    assert (np.abs(dealt - shares * np.array(totals)[:, None]) < 1 + 1e-6).all()


def test_small_shares_get_their_due_on_average() -> None:
    weights = np.array([[0.05, 0.3, 0.05, 0.6]])
    dealt = np.concatenate([deal(np.array([3]), weights, randomness(seed)) for seed in range(4000)])
    assert dealt.mean(axis=0) == pytest.approx(3 * weights[0], abs=0.04)


def test_values_are_attached_to_as_many_rows_as_asked_for_and_chance_says_which() -> None:
    above = np.array([0, 1, 0, 1, 1, 0])
    counts = np.array([[1, 2, 0], [0, 1, 2]])
    first_of_all = []
    for seed in range(300):
        values = attach(above, counts, randomness(seed))
        for place in (0, 1):
            assert np.bincount(values[above == place], minlength=3).tolist() == counts[place].tolist()
        first_of_all.append(values[0])
    assert np.mean(np.array(first_of_all) == 0) == pytest.approx(1 / 3, abs=0.1)


def test_a_chain_has_the_counts_of_its_pairs_and_nothing_else_in_common() -> None:
    """Three columns and two classes: 0 and 2 depend on 1, and on each other through it alone."""
    rng = np.random.default_rng(4)
    joint = rng.integers(50, 300, size=(2, 3, 2, 2)).astype(float)
    # Make columns 0 and 2 independent given column 1 and the class.
    given_1 = joint.sum(axis=(0, 2), keepdims=True)
    model = joint.sum(axis=2, keepdims=True) * joint.sum(axis=0, keepdims=True) / given_1
    singles = [model.sum(axis=(1, 2)), model.sum(axis=(0, 2)), model.sum(axis=(0, 1))]
    pairs = {(0, 1): model.sum(axis=2), (1, 2): model.sum(axis=0)}
    columns = [
        WideCells(Column(str(place), np.empty(0, dtype=np.int64), one.astype(np.int64), 1.0), np.arange(len(one)))
        for place, one in enumerate(singles)
    ]
    for tree in ([(0, 1), (1, 2)], [(1, 2), (0, 1)]):
        marginals = Marginals(singles, [pairs[pair] for pair in tree])
        cells, classes = generate(columns, tree, marginals, singles[0].sum(axis=0), randomness(1))
        made = np.zeros(model.shape)
        np.add.at(made, (*cells, classes), 1)
        assert made.sum() == pytest.approx(model.sum(), abs=2)
        assert np.abs(made.sum(axis=2) - pairs[0, 1]).max() < 3
        assert np.abs(made.sum(axis=0) - pairs[1, 2]).max() < 3
        assert np.abs(made - model).max() < 5 * np.sqrt(model.max())


def test_joined_cells_are_told_apart_again_by_their_own_counts() -> None:
    noisy = np.array([[30, 0], [10, 0], [0, 50], [20, 5]])
    column = WideCells(Column("c", np.empty(0, dtype=np.int64), noisy, 1.0), np.array([0, 0, 1, 1]))
    marginals = Marginals([np.array([[40.0, 0.0], [20.0, 55.0]])], [])
    (cells,), classes = generate([column], [], marginals, np.array([60.0, 55.0]), randomness(2))
    made = np.zeros((4, 2), dtype=int)
    np.add.at(made, (cells, classes), 1)
    assert made.tolist() == noisy.tolist()


def test_which_rows_of_a_joined_cell_get_which_value_is_chance() -> None:
    """Two columns that have nothing in common but their wide cells: what was joined tells nothing of the other."""
    noisy = np.full((4, 1), 1000)
    columns = [
        WideCells(Column(name, np.empty(0, dtype=np.int64), noisy, 1.0), np.array([0, 0, 1, 1])) for name in "ab"
    ]
    pair = np.array([[[1500.0], [500.0]], [[500.0], [1500.0]]])
    marginals = Marginals([pair.sum(axis=1), pair.sum(axis=0)], [pair])
    (first, second), _ = generate(columns, [(0, 1)], marginals, np.array([4000.0]), randomness(5))
    made = np.zeros((4, 4))
    np.add.at(made, (first, second), 1)
    assert made.sum(axis=0).tolist() == made.sum(axis=1).tolist() == [1000] * 4
    expected = np.kron(pair[:, :, 0] / 4, np.ones((2, 2)))
    assert np.abs(made - expected).max() < 5 * np.sqrt(expected.max())


def test_nobody_is_no_rows() -> None:
    columns = [WideCells(Column("c", np.empty(0, dtype=np.int64), np.zeros((2, 1), dtype=np.int64), 1.0), np.arange(2))]
    (cells,), classes = generate(columns, [], Marginals([np.zeros((2, 1))], []), np.zeros(1), randomness(1))
    assert len(cells) == len(classes) == 0

"""The nodes of a tree by number."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from incrowd.hierarchies.item_groups import group_items
from incrowd.hierarchies.nodes import Nodes
from tests.naive_sets import TREES, tree_of


@pytest.mark.parametrize("name", TREES)
def test_parents_are_the_smallest_nodes_around(name):
    nodes = Nodes.of(tree_of(TREES[name]))
    runs = list(zip(nodes.lows.tolist(), nodes.highs.tolist(), strict=True))
    assert len(set(runs)) == len(runs)
    assert runs[nodes.root] == (1, nodes.size)
    for number, (low, high) in enumerate(runs):
        around = [
            (upper - lower, other)
            for other, (lower, upper) in enumerate(runs)
            if lower <= low and high <= upper and other != number
        ]
        assert nodes.parents[number] == (min(around)[1] if around and number else -1)
        children = nodes.children_of(number)
        assert sorted(children.tolist()) == np.flatnonzero(nodes.parents == number).tolist()
        if len(children):
            assert nodes.lows[children].tolist() == [low, *nodes.highs[children[:-1]].tolist()]


@pytest.mark.parametrize("name", TREES)
def test_penalties_are_shares_of_all_items(name):
    nodes = Nodes.of(tree_of(TREES[name]))
    assert nodes.penalties[0] == 1
    assert (nodes.penalties[1 : nodes.size] == 0).all()
    held = (nodes.highs - nodes.lows)[nodes.size :]
    np.testing.assert_allclose(nodes.penalties[nodes.size :], held / 8)


def test_a_tree_of_one_item_has_a_root():
    nodes = Nodes.of(tree_of(["only"]))
    assert (nodes.size, len(nodes), nodes.parents.tolist()) == (2, 3, [-1, 2, -1])
    assert nodes.penalties.tolist() == [1.0, 0.0, 1.0]


def test_items_of_like_frequency_share_a_group():
    rng = np.random.default_rng(1)
    counts = rng.permutation(1000)
    tree, codes = group_items("item", pl.Series([f"x{n}" for n in range(1000)]), counts)
    assert tree.height == 3
    assert (np.diff(counts[np.argsort(codes)]) < 0).all()
    nodes = Nodes.of(tree)
    assert sorted(set((nodes.highs - nodes.lows).tolist())) == [1, 10, 100, 1000]


@pytest.mark.parametrize("items", [[], ["one"], ["group 1.1", "b", "group"], ["a", "b", "c"]])
def test_few_items_and_odd_names(items):
    tree, codes = group_items("item", pl.Series(items, dtype=pl.String), np.ones(len(items), np.int64), fan_out=2)
    assert tree.values.gather(codes).to_list() == items

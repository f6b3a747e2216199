"""Trees: what is computed all at once equals what one finds code by code."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given

from incrowd.errors import HierarchyError
from incrowd.hierarchies.tree import MISSING, Tree, grow
from tests.hierarchies.grown import CHECKED, all_runs, node_runs, trees


def runs_of(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    lows, highs = zip(*all_runs(tree), strict=True)
    return np.array(lows, dtype=np.int32), np.array(highs, dtype=np.int32)


@CHECKED
@given(trees())
def test_the_ancestors_of_every_code_nest(tree: Tree) -> None:
    for below, above in zip(tree.nodes[:-1], tree.nodes[1:], strict=True):
        assert len(set(zip(below.tolist(), above.tolist(), strict=True))) == len(set(below.tolist()))
    assert set(tree.nodes[-1].tolist()) == {0}


@CHECKED
@given(trees())
def test_missing_is_a_leaf_of_its_own_directly_under_the_root(tree: Tree) -> None:
    assert tree.values[MISSING] is None
    for level, names in zip(tree.nodes[:-1], tree.names[:-1], strict=True):
        assert np.count_nonzero(level == level[MISSING]) == 1
        assert names[int(level[MISSING])] is None


@CHECKED
@given(trees())
def test_starts_and_ends_are_those_of_each_code_s_node(tree: Tree) -> None:
    for level in range(tree.height + 1):
        for code in range(tree.size):
            same = np.flatnonzero(tree.nodes[level] == tree.nodes[level, code])
            assert (tree.starts[level, code], tree.ends[level, code]) == (same[0], same[-1] + 1)


@CHECKED
@given(trees())
def test_a_cover_holds_exactly_the_run_with_the_fewest_nodes(tree: Tree) -> None:
    nodes = node_runs(tree)
    lows, highs = runs_of(tree)
    run, level, first = tree.cover(lows, highs)
    for number, (low, high) in enumerate(all_runs(tree)):
        mine = run == number
        starts, ends = first[mine], tree.ends[level[mine], first[mine]]
        assert (starts == tree.starts[level[mine], first[mine]]).all()
        assert [low, *ends.tolist()] == [*starts.tolist(), high]  # one after the other, nothing between or beyond
        assert len(starts) == fewest(nodes, low, high)


def fewest(nodes: set[tuple[int, int]], low: int, high: int) -> int:
    """The least number of nodes that lie end to end from `low` to `high`."""
    best = {low: 0}
    for place in range(low + 1, high + 1):
        best[place] = min((best[start] + 1 for start, end in nodes if end == place and start in best), default=math.inf)
    return int(best[high])


@CHECKED
@given(trees())
def test_the_common_node_is_the_smallest_that_holds_the_run(tree: Tree) -> None:
    found_lows, found_highs = tree.common_nodes(*runs_of(tree))
    for (low, high), *found in zip(all_runs(tree), found_lows.tolist(), found_highs.tolist(), strict=True):
        holding = [(start, end) for start, end in node_runs(tree) if start <= low and high <= end]
        start, end = min(holding, key=lambda node: node[1] - node[0])
        # The root without missing is "any known value".
        assert found == [start if low == MISSING else max(start, 1), end]


@CHECKED
@given(trees())
def test_widths_are_shares(tree: Tree) -> None:
    widths = tree.widths(*runs_of(tree))
    assert ((widths >= 0) & (widths <= 1)).all()
    for (low, high), width in zip(all_runs(tree), widths, strict=True):
        if high - low == 1:
            assert width == 0
        elif low == MISSING or (low, high) == (1, tree.size):
            assert width == 1


def widths(tree: Tree, *runs: tuple[int, int]) -> list[float]:
    lows, highs = (np.array(bounds, dtype=np.int32) for bounds in zip(*runs, strict=True))
    return tree.widths(lows, highs).tolist()


def test_a_number_s_width_is_its_share_of_the_span() -> None:
    tree = grow("age", pl.Series([20, 25, 40, 60]), "number", from_data=True)
    assert widths(tree, (1, 2), (1, 3), (2, 4), (1, 5), (0, 1), (0, 3)) == [0.0, 0.125, 0.375, 1.0, 0.0, 1.0]


def test_m_of_n_names_have_the_width_of_m_minus_1_over_n_minus_1() -> None:
    tree = grow("city", pl.Series(["a", "b", "c", "d"]), "text", from_data=True)
    assert widths(tree, (1, 2), (1, 3), (2, 5), (1, 5), (0, 2)) == [0.0, 1 / 3, 2 / 3, 1.0, 1.0]


def test_infinite_numbers_leave_the_other_widths_alone() -> None:
    tree = grow("x", pl.Series([-math.inf, 0.0, 1.0, 4.0, math.inf]), "number", from_data=True)
    assert tree.span == 4.0
    assert widths(tree, (2, 4), (3, 6), (1, 6)) == [0.25, 0.75, 1.0]


@pytest.mark.parametrize("values", [[-math.inf, math.inf], [5.0, math.inf], [-1.7e308, 1.7e308], []])
def test_no_width_is_ever_undefined(values: list[float]) -> None:
    tree = grow("x", pl.Series(values, dtype=pl.Float64), "number", from_data=True)
    assert np.isfinite(tree.span)
    assert np.isfinite(tree.widths(*runs_of(tree))).all()


def test_an_empty_column_has_missing_and_nothing_else() -> None:
    tree = grow("x", pl.Series([], dtype=pl.String), "text", [pl.Series([], dtype=pl.String)], from_data=False)
    assert (tree.size, tree.height, tree.span) == (1, 2, 0.0)
    assert node_runs(tree) == {(0, 1)}


def text_tree(leaves: list[str], *ancestors: list[str]) -> Tree:
    return grow(
        "city", pl.Series(leaves), "text", [pl.Series(level) for level in ancestors], from_data=False, declared=True
    )


@pytest.mark.parametrize(
    ("leaves", "ancestors", "name"),
    [
        (["a", "b", "c"], [["x", "y", "x"]], "x"),  # scattered
        (["a", "b"], [["x", "x"], ["p", "q"]], "x"),  # below two
    ],
)
def test_a_node_with_two_parents_is_refused(leaves: list[str], ancestors: list[list[str]], name: str) -> None:
    with pytest.raises(HierarchyError, match=f"column 'city': node '{name}' at level 1 has two parents"):
        text_tree(leaves, *ancestors)


@pytest.mark.parametrize(
    ("leaves", "ancestors", "name"),
    [
        (["a", "b"], [["a", "a"]], "a"),  # a value and the group around it
        (["a", "b", "c"], [["x", "y", "y"], ["y", "y", "y"]], "y"),  # two levels
        (["a", "b"], [["*", "x"]], r"\*"),  # the root's own name
        (["*", "b"], [["*", "x"]], r"\*"),
    ],
)
def test_a_name_for_two_sets_of_values_is_refused(leaves: list[str], ancestors: list[list[str]], name: str) -> None:
    with pytest.raises(HierarchyError, match=f"the name '{name}' stands for two different sets"):
        text_tree(leaves, *ancestors)


def test_a_name_may_be_that_of_its_only_value_and_a_value_may_be_an_asterisk() -> None:
    tree = text_tree(["a", "*"], ["a", "x"])
    assert tree.names[1].to_list() == [None, "a", "x"]

"""Small trees of every shape, and what they say when one looks at them code by code."""

from __future__ import annotations

import polars as pl
from hypothesis import settings
from hypothesis import strategies as st

from incrowd.hierarchies.tree import Tree, grow

CHECKED = settings(deadline=None, derandomize=True, database=None, max_examples=10)


@st.composite
def trees(draw: st.DrawFn, *, kinds: tuple[str, ...] = ("number", "text"), most: int = 10) -> Tree:
    """A tree of up to `most` values whose nodes are runs that nest, level by level."""
    size = draw(st.integers(0, most))
    kind = draw(st.sampled_from(kinds))
    step = draw(st.integers(1, 7))
    values = pl.Series([place * step for place in range(size)], dtype=pl.Int64)
    opens = [True] * size
    ancestors = []
    for level in range(1, draw(st.integers(0, 3)) + 1):
        opens = [place == 0 or (was_open and draw(st.booleans())) for place, was_open in enumerate(opens)]
        nodes = [sum(opens[: place + 1]) for place in range(size)]
        # One name may stand for one run at several levels, as it does where branches differ in depth.
        names = [f"{nodes.index(node)}..{size - nodes[::-1].index(node)}" for node in nodes]
        ancestors.append(
            pl.Series(names if kind == "text" else [f"L{level} {name}" for name in names], dtype=pl.String)
        )
    leaves = values if kind == "number" else pl.Series([f"v{value}" for value in values], dtype=pl.String)
    return grow("column", leaves, kind, ancestors, from_data=False)  # type: ignore[arg-type]


def all_runs(tree: Tree) -> list[tuple[int, int]]:
    """Every run of codes that a group could show."""
    return [(low, high) for low in range(tree.size) for high in range(low + 1, tree.size + 1)]


def node_runs(tree: Tree) -> set[tuple[int, int]]:
    """The codes of every node, found by comparing codes one by one."""
    found = set()
    for level in tree.nodes.tolist():
        for node in set(level):
            held = [code for code, other in enumerate(level) if other == node]
            assert held == list(range(held[0], held[-1] + 1)), "a node is in one piece"
            found.add((held[0], held[-1] + 1))
    return found

"""What every hierarchy promises, one function each: returns if the promise is kept, raises `AssertionError` if not.

Each takes the hierarchy, some values of a column, and the tree and codes that it makes of them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import tomli_w

from incrowd.common.arrays import Codes
from incrowd.core.families import make_registered, registered
from incrowd.errors import IncrowdError
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.meaning import label_masks
from incrowd.hierarchies.naming import label_runs
from incrowd.hierarchies.tree import MISSING, Tree
from incrowd.testing.expecting import expect, is_frozen_dataclass
from incrowd.testing.reading import is_null, plain

COLUMN = "column"
Promise = Callable[[Hierarchy, pl.Series, Tree, Codes], None]


def is_a_value(hierarchy: Hierarchy) -> None:
    """A hierarchy has a name, is a frozen dataclass, and survives being written to a recipe."""
    expect(hierarchy.name, "a hierarchy without a name", type(hierarchy).__name__)
    expect(is_frozen_dataclass(hierarchy), "a hierarchy that is no frozen dataclass", type(hierarchy).__name__)
    described = tomllib.loads(tomli_w.dumps({"kind": hierarchy.name, **hierarchy.to_recipe()}))
    if registered("hierarchies").get(hierarchy.name) is type(hierarchy):
        again = make_registered("hierarchies", described, key="kind")
    else:
        del described["kind"]
        again = type(hierarchy).from_recipe(described, Path())
    expect(again.to_recipe() == hierarchy.to_recipe(), f"a recipe makes another one of it, {again}", hierarchy)


def declared(hierarchy: Hierarchy) -> pl.Series | None:
    """Return all values that a hierarchy covers without looking at a column, if it can tell them."""
    if not hierarchy.declares_values:
        return None
    try:
        values = hierarchy.declared_values(COLUMN)
    except IncrowdError:  # it may need more than it was given
        return None
    tree, codes = hierarchy.build(COLUMN, values)
    expect((codes > MISSING).all() and tree.size > 1, "it declares values that are missing from its tree", hierarchy)
    return tree.values.slice(1)


def gives_every_value_a_code(hierarchy: Hierarchy, values: pl.Series, tree: Tree, codes: Codes) -> None:
    """A code for every value, within the tree, that stands for this value; 0 for missing ones, and no other."""
    expect(codes.shape == (len(values),), f"{codes.shape} codes of {len(values)} values", hierarchy)
    expect(codes.dtype == np.int32, f"codes are {codes.dtype}, not int32", hierarchy)
    inside = ((codes >= 0) & (codes < tree.size)).all()
    expect(inside, f"codes outside of the tree's {tree.size}: {codes.tolist()}", hierarchy, values.to_list())
    expect(tree.values[MISSING] is None and tree.values.null_count() == 1, "another code than 0 is missing", hierarchy)
    for value, code in zip(values.to_list(), codes.tolist(), strict=True):
        meant = tree.values[code]
        if is_null(value) or (value == "" and code == MISSING):  # some hierarchies take empty text for missing
            expect(code == MISSING, f"a missing value has code {code}", hierarchy, values.to_list())
        else:
            expect(meant is not None and plain(meant) == plain(value), f"{value!r} is coded as {meant!r}", hierarchy)


def nests_its_levels(hierarchy: Hierarchy, values: pl.Series, tree: Tree, codes: Codes) -> None:
    """Level 0 tells all codes apart, the root none; each node is a run of codes, and in one node of the level above."""
    nodes, size = tree.nodes, tree.size
    expect(nodes.shape == (tree.height + 1, size), f"nodes are {nodes.shape}", hierarchy)
    expect(len(tree.names) == tree.height + 1, f"{len(tree.names)} levels have names", hierarchy)
    expect(len(np.unique(nodes[0])) == size, "level 0 does not tell all values apart", hierarchy, values.to_list())
    expect(len(np.unique(nodes[-1])) == 1, "the root does not cover everything", hierarchy, values.to_list())
    for level in range(tree.height + 1):
        runs = 1 + np.count_nonzero(nodes[level, 1:] != nodes[level, :-1])
        problem = f"a node of level {level}"
        expect(runs == len(np.unique(nodes[level])), f"{problem} is in pieces", hierarchy, values.to_list())
        if level < tree.height:
            alone = size == 1 or (nodes[level, 1:] != nodes[level, MISSING]).all()
            expect(alone, f"{problem} holds missing values and others", hierarchy, values.to_list())
            pairs = np.unique(nodes[level : level + 2], axis=1).shape[1]
            expect(pairs == len(np.unique(nodes[level])), f"{problem} has two parents", hierarchy, values.to_list())


def names_read_back(hierarchy: Hierarchy, values: pl.Series, tree: Tree, codes: Codes) -> None:
    """A node's label, as it is published, stands for the values of this node and for no others."""
    every = np.arange(tree.size)
    for level in range(tree.height + 1):
        starts, ends = tree.starts[level], tree.ends[level]
        labels = label_runs(tree, starts, ends, shown="level", level=level)
        distinct = labels.unique(maintain_order=True)
        masks = dict(zip(distinct.to_list(), label_masks(COLUMN, tree, distinct, ours=True), strict=True))
        for code, label in enumerate(labels.to_list()):
            node = (every >= starts[code]) & (every < ends[code])
            read = np.flatnonzero(masks[label]).tolist()
            problem = f"'{label}' is read as {read}, and stands for {np.flatnonzero(node).tolist()}"
            expect((masks[label] == node).all(), problem, hierarchy, values.to_list())


def ignores_order(hierarchy: Hierarchy, values: pl.Series, tree: Tree, codes: Codes) -> None:
    """The same values in another order, or more often, give the same tree and codes."""
    for other, place in (
        (values.reverse(), np.arange(len(values))[::-1]),
        (pl.concat([values, values]), np.tile(np.arange(len(values)), 2)),
    ):
        again, found = hierarchy.build(COLUMN, other)
        same = again.values.equals(tree.values) and np.array_equal(again.nodes, tree.nodes)
        same = same and all(one.equals(two) for one, two in zip(again.names, tree.names, strict=True))
        expect(same, "another order of values gives another tree", hierarchy, values.to_list())
        expect(np.array_equal(found, codes[place]), "another order of values gives other codes", hierarchy)


PROMISES: Sequence[Promise] = (gives_every_value_a_code, nests_its_levels, names_read_back, ignores_order)

"""How likely each combination of a clique's cells is, from potentials: sums sent along a junction tree and back.

Potentials are logarithms, one for each group of cells that was counted. Sums go from the leaves to the root and back
(Lauritzen & Spiegelhalter 1988), which makes all cliques agree. The sums are a loop (`kernels/potentials.py`); here is
how a tree is laid out for it. Cost: a few passes over the cells of all cliques, and one for each measurement.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from incrowd.common.arrays import Floats, Ints
from incrowd.dp.synthesis.junction_tree import Columns, JunctionTree
from incrowd.dp.synthesis.measurement import Measurement
from incrowd.kernels.potentials import TreeArrays


def other_axes(clique: Columns, columns: Columns) -> tuple[int, ...]:
    """Return the axes of a clique's array that are not of some columns."""
    return tuple(axis for axis, column in enumerate(clique) if column not in columns)


def tree_arrays(tree: JunctionTree, sizes: Ints, measurements: Sequence[Measurement]) -> TreeArrays:
    """Return a tree, and where measurements are in it, as arrays."""
    axes = max(len(clique) for clique in tree.cliques)
    shapes = np.ones((len(tree.cliques), axes), dtype=np.int64)
    for shape, clique in zip(shapes, tree.cliques, strict=True):
        shape[axes - len(clique) :] = sizes[list(clique)]

    def strides(clique: Columns, columns: Columns) -> list[int]:
        step, found = 1, {}
        for column in reversed(columns):
            found[column] = step
            step *= int(sizes[column])
        return [0] * (axes - len(clique)) + [found.get(column, 0) for column in clique]

    above = [
        strides(tree.cliques[parent], shared) if parent >= 0 else [0] * axes
        for parent, shared in zip(tree.parents, tree.shared, strict=True)
    ]
    hosts = [tree.host(one.columns) for one in measurements]
    groups, first = [], 0
    for one in measurements:
        groups.append(_groups(one, sizes) + first)
        first += one.noisy.size
    return TreeArrays(
        shapes,
        np.cumsum([0, *shapes.prod(axis=1)]),
        np.array(tree.parents, dtype=np.int64),
        np.array([strides(*each) for each in zip(tree.cliques, tree.shared, strict=True)], dtype=np.int64),
        np.array(above, dtype=np.int64),
        np.array([math.prod(sizes[list(shared)].tolist()) for shared in tree.shared], dtype=np.int64),
        np.array(hosts, dtype=np.int64),
        np.array(
            [strides(tree.cliques[host], one.columns) for host, one in zip(hosts, measurements, strict=True)],
            dtype=np.int64,
        ),
        np.concatenate(groups).astype(np.int32),
        np.cumsum([0, *(len(one) for one in groups)]),
    )


def clique_tables(tree: JunctionTree, arrays: TreeArrays, flat: Floats) -> list[Floats]:
    """Return the cells of each clique, as an array with an axis for each of its columns."""
    return [
        part.reshape(shape[len(shape) - len(clique) :])
        for part, shape, clique in zip(np.split(flat, arrays.starts[1:-1]), arrays.shapes, tree.cliques, strict=True)
    ]


def _groups(one: Measurement, sizes: Ints) -> Ints:
    """Return the group of each of a measurement's cells."""
    found = np.zeros(1, dtype=np.int64)
    for column, starts in zip(one.columns, one.starts, strict=True):
        group_of = np.repeat(np.arange(len(starts)), np.diff(starts, append=sizes[column]))
        found = (found[:, None] * len(starts) + group_of[None, :]).ravel()
    return found

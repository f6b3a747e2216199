"""Rows that have a model's counts: clique after clique, each given what it shares with the one above it.

Counts become whole by systematic rounding (`deal`), so that rows are far nearer to the model than independent draws.
Nothing here looks at the table. Cost: a pass over the rows for each clique.
"""

from __future__ import annotations

import numpy as np

from incrowd.common.arrays import Ints
from incrowd.dp.marginals.generating import attach, deal
from incrowd.dp.synthesis.beliefs import other_axes
from incrowd.dp.synthesis.columns import ModelColumn
from incrowd.dp.synthesis.maximum_entropy import Fitted


def draw(model: Fitted, sizes: Ints, rows: int, rng: np.random.Generator) -> list[Ints]:
    """Return the model's cell of every row in each column."""
    made: dict[int, Ints] = {}
    for place, clique in enumerate(model.tree.cliques):
        shared = model.tree.shared[place]
        new = tuple(column for column in clique if column not in shared)
        if not new:
            continue
        axes = (*other_axes(clique, new), *other_axes(clique, shared))
        weights = model.probabilities[place].transpose(axes)
        lines = weights.reshape(int(np.prod([sizes[column] for column in shared], dtype=np.int64)), -1)
        above = np.zeros(rows, dtype=np.int64)
        for column in shared:
            above = above * int(sizes[column]) + made[column]
        got = attach(above, deal(np.bincount(above, minlength=len(lines)), lines, rng), rng)
        for column in reversed(new):
            got, made[column] = np.divmod(got, int(sizes[column]))
    return [made[column] for column in range(len(sizes))]


def narrowed(column: ModelColumn, wide: Ints, rng: np.random.Generator) -> Ints:
    """Go back from the model's cells to those that were joined, by their own counts."""
    if len(column) == column.cells.size:
        return wide
    joined = column.joined
    # One line for each of the model's cells: the counts of the cells that it has, then nothing.
    inside = np.arange(int(joined.max()))[None, :] < joined[:, None]
    weights = np.zeros(inside.shape)
    weights[inside] = column.counts
    weights = np.where(weights.sum(axis=1, keepdims=True) > 0, weights, inside.astype(np.float64))
    offsets = attach(wide, deal(np.bincount(wide, minlength=len(column)), weights, rng), rng)
    return np.asarray(column.starts[wide] + np.minimum(offsets, joined[wide] - 1), dtype=np.int64)

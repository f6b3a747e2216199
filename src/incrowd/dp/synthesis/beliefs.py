"""How likely each combination of a clique's cells is, from potentials: sums sent along a junction tree and back.

Potentials are logarithms, one array for each clique. Sums go from the leaves to the root and back (Lauritzen &
Spiegelhalter 1988), which makes all cliques agree. Cost: a few passes over the cells of all cliques.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from incrowd.common.arrays import Floats, Ints
from incrowd.dp.synthesis.junction_tree import Columns, JunctionTree


def other_axes(clique: Columns, columns: Columns) -> tuple[int, ...]:
    """Return the axes of a clique's array that are not of some columns."""
    return tuple(axis for axis, column in enumerate(clique) if column not in columns)


def widened(clique: Columns, columns: Columns, sizes: Ints) -> tuple[int, ...]:
    """Return the shape that an array of some columns has in a clique's array."""
    return tuple(int(sizes[column]) if column in columns else 1 for column in clique)


class Beliefs:
    """Inference on one junction tree."""

    def __init__(self, tree: JunctionTree, sizes: Ints) -> None:
        self.tree, self.sizes = tree, sizes
        self.shapes = [tuple(int(sizes[column]) for column in clique) for clique in tree.cliques]
        self._plan = [
            (
                other_axes(tree.cliques[place], shared),
                other_axes(tree.cliques[above], shared),
                widened(tree.cliques[place], shared, sizes),
                widened(tree.cliques[above], shared, sizes),
            )
            for place, (above, shared) in enumerate(zip(tree.parents, tree.shared, strict=True))
            if above >= 0
        ]

    def of(self, potentials: Sequence[Floats]) -> tuple[list[Floats], float]:
        """Return each clique's probabilities, and the logarithm of what the potentials add up to.

        On the way up, a clique's cells are weighed given what it shares with the one above: however far apart two
        cliques are in what they say, nothing is lost to small numbers.
        """
        waiting = list(potentials)
        found: list[Floats] = [np.empty(0)] * len(waiting)
        for place in range(len(waiting) - 1, 0, -1):
            mine, _, _, in_above = self._plan[place - 1]
            top = waiting[place].max(axis=mine, keepdims=True)
            weights = np.exp(waiting[place] - top)
            total = weights.sum(axis=mine, keepdims=True)
            found[place] = weights / total
            above = self.tree.parents[place]
            waiting[above] = waiting[above] + (np.log(total) + top).reshape(in_above)
        highest = float(waiting[0].max())
        weights = np.exp(waiting[0] - highest)
        sum_of_all = float(weights.sum())
        found[0] = weights / sum_of_all
        for place in range(1, len(found)):
            _, theirs, in_mine, _ = self._plan[place - 1]
            found[place] *= found[self.tree.parents[place]].sum(axis=theirs).reshape(in_mine)
        return found, highest + math.log(sum_of_all)

"""The junction tree of a set of columns that are counted together: what makes inference exact and fast.

Columns that were counted together are joined in a graph; a column after the other is taken out of it, the one first
whose neighbours have the fewest combinations, and its neighbours are joined. What was taken out together are the
cliques, and the tree between them is one that shares the most columns (Koller & Friedman 2009, chapter 10). Everything
here depends on the columns' numbers of cells and on what was chosen, never on the table. Cost: columns³ for each set of
sets that is tried, many of them at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from incrowd.common.arrays import Bools, Floats, Ints

Columns = tuple[int, ...]


def graph_of(columns: int, sets: Iterable[Columns]) -> Bools:
    """Return which columns are in a set together."""
    joined = np.eye(columns, dtype=bool)
    for one in sets:
        joined[np.ix_(one, one)] = True
    return joined


def eliminate(graphs: Bools, sizes: Ints) -> tuple[Bools, Floats]:
    """Take all columns out of each graph; return the clique of each column that way, and all cliques' cells."""
    graphs = graphs.copy()
    number, columns = graphs.shape[:2]
    logs = np.log(sizes.astype(np.float64))
    there = np.ones((number, columns), dtype=bool)
    cliques = np.zeros((number, columns, columns), dtype=bool)
    cells = np.zeros(number)
    each = np.arange(number)
    for step in range(columns):
        weights = np.where(there, graphs @ logs, np.inf)
        out = weights.argmin(axis=1)
        clique = graphs[each, out] & there
        cells += np.exp(weights[each, out])
        cliques[:, step] = clique
        graphs |= clique[:, :, None] & clique[:, None, :]
        there[each, out] = False
        graphs[each, :, out] = False
    return cliques, cells


@dataclass(frozen=True, eq=False)
class JunctionTree:
    """Cliques, each a tuple of columns in order; parents come before their children, and the first is the root.

    `parents[i]` is the clique above (-1 for the root), `shared[i]` the columns that a clique shares with it.
    """

    cliques: tuple[Columns, ...]
    parents: tuple[int, ...]
    shared: tuple[Columns, ...]

    @classmethod
    def of(cls, sizes: Ints, sets: Sequence[Columns]) -> JunctionTree:
        """Return a tree in which each of the sets is inside of a clique."""
        found, _ = eliminate(graph_of(len(sizes), sets)[None], sizes)
        every = sorted({tuple(np.flatnonzero(one).tolist()) for one in found[0]}, key=lambda one: (-len(one), one))
        cliques: list[Columns] = []
        for one in every:
            if not any(set(one) <= set(other) for other in cliques):
                cliques.append(one)
        return cls._joined(cliques)

    @classmethod
    def _joined(cls, cliques: list[Columns]) -> JunctionTree:
        """Join cliques by the most columns that they share: Prim's walk from the first on."""
        sets = [set(one) for one in cliques]
        order, parents = [0], [-1]
        shared: list[Columns] = [()]
        best = {place: (len(sets[place] & sets[0]), 0) for place in range(1, len(cliques))}
        placed = {0: 0}
        while best:
            place = max(best, key=lambda one: (best[one][0], -one))
            above = best.pop(place)[1]
            placed[place] = len(order)
            order.append(place)
            parents.append(placed[above])
            shared.append(tuple(sorted(sets[place] & sets[above])))
            for other, (many, _) in best.items():
                common = len(sets[other] & sets[place])
                if common > many:
                    best[other] = (common, place)
        return cls(tuple(cliques[place] for place in order), tuple(parents), tuple(shared))

    def host(self, columns: Columns) -> int:
        """Return the clique with the fewest columns that holds some."""
        wanted = set(columns)
        return min(
            (place for place, one in enumerate(self.cliques) if wanted <= set(one)),
            key=lambda place: len(self.cliques[place]),
        )

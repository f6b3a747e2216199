"""The junction tree of a set of columns that are counted together: what makes inference exact and fast.

Columns that were counted together are joined in a graph; a column after the other is taken out of it, the one first
whose neighbours have the fewest combinations, and its neighbours are joined. What was taken out together are the
cliques, and the tree between them is one that shares the most columns (Koller & Friedman 2009, chapter 10). Everything
here depends on the columns' numbers of cells and on what was chosen, never on the table. Cost: columns² for each set of
sets that is tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from incrowd.common.arrays import Bools, Codes, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.kernels.elimination import cells_with_sets, eliminate

Columns = tuple[int, ...]
_MOST_TOGETHER = 3


def graph_of(columns: int, sets: Iterable[Columns]) -> Bools:
    """Return which columns are in a set together."""
    joined = np.eye(columns, dtype=bool)
    for one in sets:
        joined[np.ix_(one, one)] = True
    return joined


def cliques_of(graph: Bools, sizes: Ints) -> tuple[Bools, float]:
    """Take all columns out of a graph; return the clique of each column that way, and all cliques' cells."""
    return eliminate(graph, np.log(sizes.astype(np.float64)))


def cells_with(graph: Bools, sizes: Ints, sets: Sequence[Columns], most: float) -> Floats:
    """Return how many cells cliques have if one more set is in the graph, for each of some; above `most`, about."""
    return cells_with_sets(graph, np.log(sizes.astype(np.float64)), set_lines(sets), most)


def set_lines(sets: Sequence[Columns]) -> Codes:
    """Return sets of up to three columns as lines, -1 where there is none."""
    lines = np.full((len(sets), _MOST_TOGETHER), -1, dtype=np.int32)
    for line, one in zip(lines, sets, strict=True):
        line[: len(one)] = one
    return lines


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
        found, _ = cliques_of(graph_of(len(sizes), sets), sizes)
        every = sorted({tuple(np.flatnonzero(one).tolist()) for one in found}, key=lambda one: (-len(one), one))
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

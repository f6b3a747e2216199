"""What a model says of columns that are in no clique together: exact, by walks through its junction tree.

From a column's own clique outwards, the joint distribution of the column and of what two cliques share is carried along
and, in each clique, joined with what is new there. A third column, the class, may be carried with every column.
Cost: for each column, its cells times those of all cliques.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from incrowd.common.arrays import Floats
from incrowd.dp.synthesis.beliefs import other_axes
from incrowd.dp.synthesis.junction_tree import Columns
from incrowd.dp.synthesis.maximum_entropy import Fitted


class Joint:
    """The joint probabilities of sets of columns under a model."""

    def __init__(self, model: Fitted, carried: int | None) -> None:
        self._tree, self._beliefs, self._carried = model.tree, model.probabilities, carried
        self._cliques = [set(one) for one in model.tree.cliques]
        self._next: dict[int, list[tuple[int, Columns]]] = defaultdict(list)
        for place, (above, shared) in enumerate(zip(model.tree.parents, model.tree.shared, strict=True)):
            if above >= 0:
                self._next[place].append((above, shared))
                self._next[above].append((place, shared))
        self._given: dict[tuple[int, Columns], Floats] = {}

    def within(self, columns: Columns) -> int | None:
        """Return the smallest clique that holds some columns, if there is one."""
        wanted = set(columns)
        holding = [place for place, one in enumerate(self._cliques) if wanted <= one]
        return min(holding, key=lambda place: self._beliefs[place].size) if holding else None

    def tables(self, wanted: Iterable[Columns]) -> dict[Columns, Floats]:
        """Return the probabilities of each set: one in a clique, two columns, or two and the one that is carried."""
        found: dict[Columns, Floats] = {}
        apart: dict[int, set[Columns]] = defaultdict(set)
        for columns in wanted:
            host = self.within(columns)
            if host is not None:
                found[columns] = self._beliefs[host].sum(axis=other_axes(self._tree.cliques[host], columns))
            else:
                apart[min(one for one in columns if one != self._carried)].add(columns)
        for column, sets in apart.items():
            with_carried = any(self._carried in one for one in sets)
            ends = {other for one in sets for other in one} - {column}
            for other, labels, table in self._walk(column, with_carried=with_carried, ends=ends):
                pair = tuple(sorted((column, other)))
                if labels in sets:
                    found[labels] = table
                if pair in sets and pair != labels:
                    found[pair] = table.sum(axis=other_axes(labels, pair))
        return found

    def _walk(self, column: int, *, with_carried: bool, ends: set[int]) -> Iterator[tuple[int, Columns, Floats]]:
        """Yield the other columns, each with the table beside this one and the columns that its axes are of."""
        carried = tuple(sorted({column, self._carried})) if with_carried and self._carried is not None else (column,)
        start = self.within(carried)
        assert start is not None  # every column was counted, by class where it is carried
        for other in self._cliques[start] & ends:
            together = tuple(sorted({*carried, other}))
            yield other, together, self._beliefs[start].sum(axis=other_axes(self._tree.cliques[start], together))
        waiting = []
        for place, shared in self._next[start]:
            kept = tuple(sorted({*carried, *shared}))
            joint = self._beliefs[start].sum(axis=other_axes(self._tree.cliques[start], kept))
            waiting.append((place, start, shared, kept, joint))
        while waiting:
            place, before, shared, labels, joint = waiting.pop()
            given, clique = self._conditional(place, shared), self._tree.cliques[place]
            for other in (self._cliques[place] - set(shared)) & ends:
                together = tuple(sorted({*carried, other}))
                less = tuple(sorted({*shared, other}))
                small = given.sum(axis=other_axes(clique, less))
                yield other, together, _product(joint, labels, small, less, together)
            for further, next_shared in self._next[place]:
                if further != before:
                    kept = tuple(sorted({*carried, *next_shared}))
                    less = tuple(sorted({*shared, *next_shared}))
                    small = given.sum(axis=other_axes(clique, less))
                    waiting.append((further, place, next_shared, kept, _product(joint, labels, small, less, kept)))

    def _conditional(self, place: int, shared: Columns) -> Floats:
        """Return how likely a clique's cells are, given those that it shares."""
        found = self._given.get((place, shared))
        if found is None:
            clique, belief = self._tree.cliques[place], self._beliefs[place]
            axes = tuple(axis for axis, column in enumerate(clique) if column not in shared)
            total = belief.sum(axis=axes, keepdims=True)
            found = belief / np.where(total > 0, total, 1.0)
            self._given[place, shared] = found
        return found


def _product(one: Floats, its: Columns, other: Floats, others: Columns, kept: Columns) -> Floats:
    """Multiply two tables along the columns that they share, and add up what is not kept."""
    letter = {column: chr(ord("a") + place) for place, column in enumerate(sorted({*its, *others}))}
    spelled = ["".join(letter[column] for column in some) for some in (its, others, kept)]
    return np.asarray(np.einsum(f"{spelled[0]},{spelled[1]}->{spelled[2]}", one, other, optimize=True))

"""What could be counted next, and what it would be worth: sets of two or three columns, by level.

The score of a candidate is that of AIM (McKenna, Mullins, Sheldon & Miklau 2022): by how many rows its true counts are
off what the model says, Σ |count − expected|, less what the noise of counting it would add on average. The model and
the noise are public, and one row more or less changes one count by one: so it changes the score by at most the
candidate's weight. Expected counts are rounded to whole units first: floating point has no part in what one row
changes. Cost: one pass over the distinct tuples for each set of columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from incrowd.common.arrays import Bools, Floats, Ints
from incrowd.dp.synthesis.columns import ModelColumn, count_together
from incrowd.dp.synthesis.junction_tree import Columns, eliminate, graph_of
from incrowd.dp.synthesis.maximum_entropy import grouped

UNIT = Fraction(1, 1024)
_GRAPHS_AT_ONCE = 32
"""So many fit a processor's cache."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """Some columns, and the groups of each one's cells."""

    columns: Columns
    level: int
    starts: tuple[Ints, ...]
    weight: int

    @property
    def cells(self) -> int:
        """How many counts it has."""
        return int(np.prod([len(one) for one in self.starts], dtype=np.int64))

    def grouped(self, counts: Floats) -> Floats:
        """Add up counts of the columns' cells by group."""
        return grouped(counts, self.starts)


class Candidates:
    """All candidates over some columns of a table."""

    def __init__(self, columns: Sequence[ModelColumn], counts: Ints) -> None:
        self.columns, self._counts = columns, counts
        self.sizes = np.array([len(column) for column in columns], dtype=np.int64)
        self._places = [column.places for column in columns]
        self._true: dict[Columns, Ints] = {}

    def finest(self, columns: Columns) -> Candidate:
        """Return some columns by the model's cells."""
        return Candidate(columns, 0, tuple(self.columns[place].levels[0] for place in columns), 1)

    def of(self, sets: Sequence[Columns], favoured: int | None, weight: int) -> list[Candidate]:
        """Return sets of columns, at each level; those with the favoured column have a weight."""
        return [
            Candidate(one, level, starts, weight if favoured in one else 1)
            for one in sets
            for level, starts in _levels(self.columns, one)
        ]

    def true_counts(self, candidate: Candidate) -> Ints:
        """Return how many rows are in each of its cells."""
        found = self._true.get(candidate.columns)
        if found is None:
            places, sizes = zip(*((self._places[one], int(self.sizes[one])) for one in candidate.columns), strict=True)
            found = count_together(places, sizes, self._counts)
            self._true[candidate.columns] = found
        return np.asarray(grouped(found, candidate.starts), dtype=np.int64)

    def scores(self, open_ones: Sequence[Candidate], said: Mapping[Columns, Floats], rows: float, noise: float) -> Ints:
        """Return the score of candidates, in units; `said` are the model's probabilities of their columns."""
        return np.array(
            [
                score(self.true_counts(one), one.grouped(said[one.columns] * rows), noise, one.weight)
                for one in open_ones
            ],
            dtype=np.int64,
        )


def score(true: Ints, expected: Floats, noise: float, weight: int) -> int:
    """Return, in units, how far counts are from what is expected of them, less the noise of counting them."""
    units = UNIT.denominator
    distance = int(np.abs(true * units - np.rint(expected * units).astype(np.int64)).sum())
    return weight * (distance - int(true.size * noise * units))


def sets_of(columns: int, carried: int | None) -> list[Columns]:
    """Return all sets of two columns; where all are counted by class (`carried`), also those of two and the class."""
    pairs: list[Columns] = list(combinations(range(columns), 2))
    if carried is None:
        return pairs
    pairs = [one for one in pairs if carried not in one]
    return [*pairs, *((*one, carried) for one in pairs)]


def that_fit(candidates: Sequence[Candidate], sizes: Ints, counted: Sequence[Columns], most_cells: int) -> Bools:
    """Return which candidates keep the junction tree below a number of cells: those that are in it already do."""
    graph = graph_of(len(sizes), counted)
    sets = sorted({one.columns for one in candidates})
    fits: dict[Columns, bool] = {}
    new = []
    for one in sets:
        fits[one] = bool(graph[np.ix_(one, one)].all())
        if not fits[one]:
            new.append(one)
    for first in range(0, len(new), _GRAPHS_AT_ONCE):
        some = new[first : first + _GRAPHS_AT_ONCE]
        graphs = np.repeat(graph[None], len(some), axis=0)
        for number, one in enumerate(some):
            graphs[number][np.ix_(one, one)] = True
        _, cells = eliminate(graphs, sizes)
        fits |= dict(zip(some, (cells <= most_cells).tolist(), strict=True))
    return np.array([fits[one.columns] for one in candidates], dtype=bool)


def _levels(columns: Sequence[ModelColumn], one: Columns) -> list[tuple[int, tuple[Ints, ...]]]:
    """Return the levels of some columns that differ from each other."""
    found: list[tuple[int, tuple[Ints, ...]]] = []
    seen = set()
    for level in range(len(columns[0].levels)):
        starts = tuple(columns[place].levels[level] for place in one)
        shape = tuple(len(each) for each in starts)
        if shape not in seen and min(shape) > 1:
            seen.add(shape)
            found.append((level, starts))
    return found

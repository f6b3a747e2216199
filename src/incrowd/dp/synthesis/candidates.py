"""What could be counted next, and what it would be worth: sets of two or three columns, by level.

The score of a candidate is that of AIM (McKenna, Mullins, Sheldon & Miklau 2022): by how many rows its true counts are
off what the model says, Σ |count − expected|, less what the noise of counting it would add on average. The model and
the noise are public, and one row more or less changes one count by one: so it changes the score by at most the
candidate's weight. Expected counts are rounded to whole units first: floating point has no part in what one row
changes. Cost: one step for each distinct tuple and
set of columns, once; then a pass over all sets' cells for each model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations, groupby
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Bools, Codes, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.common.threads import do_together
from incrowd.dp.synthesis.columns import ModelColumn
from incrowd.dp.synthesis.junction_tree import Columns, cells_with, graph_of, set_lines
from incrowd.dp.synthesis.measurement import grouped
from incrowd.kernels.joint_counts import count_sets, distances_of_sets, group_maps, table_starts

UNIT = Fraction(1, 1024)
_CELLS_AT_ONCE = 4_000_000
"""Tables with so many cells are counted, or compared, in one pass."""


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
        return math.prod(len(one) for one in self.starts)

    def grouped(self, counts: Floats) -> Floats:
        """Add up counts of the columns' cells by group."""
        return grouped(counts, self.starts)


class Candidates:
    """All candidates over some columns of a table."""

    def __init__(self, columns: Sequence[ModelColumn], counts: Ints) -> None:
        self.columns, self._counts = columns, counts
        self.sizes = np.array([len(column) for column in columns], dtype=np.int64)
        self._groups = group_maps([column.levels for column in columns], self.sizes)
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
        self._count([candidate.columns])
        return np.asarray(grouped(self._true[candidate.columns], candidate.starts), dtype=np.int64)

    def _count(self, sets: Sequence[Columns]) -> None:
        """Count the sets that were not counted before, all in one pass."""
        new = [one for one in sets if one not in self._true]
        if not new:
            return
        for some, lines in _in_parts(new, self.sizes):
            found = count_sets(self._matrix, self._counts, lines, self.sizes)
            for one, table in zip(some, np.split(found, table_starts(lines, self.sizes)[1:-1]), strict=True):
                self._true[one] = table.reshape(self.sizes[list(one)])

    @cached_property
    def _matrix(self) -> NDArray[np.uint16]:
        """The model's cell of each tuple, column by column."""
        steps = len(self.columns) * len(self._counts)
        return np.stack(do_together([partial(_places, column) for column in self.columns], steps=steps))

    def scores(self, open_ones: Sequence[Candidate], said: Mapping[Columns, Floats], rows: float, noise: float) -> Ints:
        """Return the score of candidates, in units; `said` are the model's probabilities of their columns."""
        self._count(list(dict.fromkeys(one.columns for one in open_ones)))
        cells = np.array([one.cells for one in open_ones], dtype=np.int64)
        weights = np.array([one.weight for one in open_ones], dtype=np.int64)
        places: dict[Columns, list[int]] = {}
        for place, one in enumerate(open_ones):
            places.setdefault(one.columns, []).append(place)
        distances = np.empty(len(open_ones), dtype=np.int64)
        for some, lines in _in_parts(list(places), self.sizes):
            mine = [place for one in some for place in places[one]]
            distances[mine] = distances_of_sets(
                np.concatenate([self._true[one].ravel() for one in some]),
                np.concatenate([said[one].ravel() for one in some]),
                rows,
                UNIT.denominator,
                lines,
                self.sizes,
                (
                    np.repeat(np.arange(len(some)), [len(places[one]) for one in some]),
                    np.array([open_ones[place].level for place in mine], dtype=np.int64),
                ),
                self._groups,
            )
        return score(distances, cells, noise, weights)


def _places(column: ModelColumn) -> NDArray[np.uint16]:
    return column.places


def score(distances: Ints, cells: Ints, noise: float, weights: Ints) -> Ints:
    """Return, in units, how far counts are from what is expected of them, less the noise of counting them."""
    return weights * (distances - (cells * (noise * UNIT.denominator)).astype(np.int64))


def _in_parts(sets: list[Columns], sizes: Ints) -> Iterator[tuple[list[Columns], Codes]]:
    """Yield sets as lines, so many at once that their tables fit the memory."""
    cells = np.cumsum([int(sizes[list(one)].prod()) for one in sets])
    for _, some in groupby(zip(sets, (cells // _CELLS_AT_ONCE).tolist(), strict=True), key=itemgetter(1)):
        part = [one for one, _ in some]
        yield part, set_lines(part)


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
    sets = list(dict.fromkeys(one.columns for one in candidates))
    fits = {one: all(graph[pair] for pair in combinations(one, 2)) for one in sets}
    new = [one for one in sets if not fits[one]]
    fits |= dict(zip(new, (cells_with(graph, sizes, new, most_cells) <= most_cells).tolist(), strict=True))
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

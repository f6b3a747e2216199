"""The level vectors worth choosing: none that is as precise publishes as much.

A coarser vector publishes at least as many rows, so one look at the coarsest vector of a branch bounds all of it.
Branches that cannot hold anything worth telling are left alone, and the result is that of looking at every vector. A
walk from the finest vector to the coarsest, one good step after another, finds vectors to hold branches against.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

import numpy as np

from incrowd.common.arrays import Counts, Floats, Ints
from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.dp.expected_rows import ExpectedRows
from incrowd.methods.lattice import Levels, Rows
from incrowd.methods.schemes import PARTS, Schemes

_SMALL_BRANCH = 6
"""Fewer vectors are looked at one by one: a bound costs as much as one of them."""


@dataclass(frozen=True, eq=False)
class LevelFront:
    """What was looked at: the places of vectors, and the rows that each choice of k and rate publishes of them."""

    places: Ints
    published: Floats


def look_at_levels(schemes: Schemes, choices: Sequence[ExpectedRows], progress: Progress) -> LevelFront:
    """Look at every level vector that may be worth choosing, at each choice of k and rate."""
    search = _Search(schemes, choices, progress)
    search.walk()
    search.branch(schemes.finest(), schemes.lowest, 0)
    progress("comparing levels", 1.0)
    places = np.array(sorted(search.found), dtype=np.int64)
    published = np.array([search.found[place] for place in places.tolist()]).reshape(len(places), len(choices))
    return LevelFront(places, published)


@dataclass(eq=False)
class _Search:
    schemes: Schemes
    choices: Sequence[ExpectedRows]
    progress: Progress
    found: dict[int, Floats] = field(default_factory=dict)
    _done: int = 0

    def __post_init__(self) -> None:
        schemes = self.schemes
        self.sizes = schemes.highest.astype(np.int64) - schemes.lowest + 1
        # Columns with many levels come first: a bound on a branch says most where much is decided.
        self.order = np.argsort(-self.sizes, kind="stable")
        self.below = np.concatenate([np.cumprod(self.sizes[self.order][::-1])[::-1], [1]])
        self.least = min(choice.k for choice in self.choices)
        self.most_by_parts = np.zeros(PARTS + 2)
        """The most rows that a vector publishes which is so precise, or more so."""

    def rows_published(self, sizes: Counts) -> Floats:
        """Return how many rows each choice publishes, of crowds of these sizes."""
        # Most crowds are too small for any choice, and most others are of the same few sizes.
        distinct, times = np.unique(sizes[sizes >= self.least], return_counts=True)
        return np.array([choice.published(distinct, times) for choice in self.choices])

    def look(self, rows: Rows, levels: Levels) -> Floats:
        """Remember what a vector publishes."""
        place = self.schemes.place(levels)
        if place not in self.found:
            self.found[place] = self.rows_published(rows.counts)
            parts, most = self.schemes.parts_of(levels), float(self.found[place].max())
            upto = self.most_by_parts[: parts + 1]
            np.maximum(upto, most, out=upto)
        return self.found[place]

    def hopeless(self, rows: Rows, levels: Levels, top: Levels) -> bool:
        """Whether something is better than all between two vectors: what is published most, and precise most, of it."""
        bound = float(self.rows_published(self.schemes.merge(rows, top).counts).max())
        parts = self.schemes.parts_of(levels)
        return bool(self.most_by_parts[parts] > bound or self.most_by_parts[parts + 1] >= bound)

    def walk(self) -> None:
        """Go from the finest vector to the coarsest by the step that keeps most."""
        schemes = self.schemes
        levels, rows = schemes.lowest.copy(), schemes.finest()
        self.look(rows, levels)
        while (levels < schemes.highest).any():
            steps = []
            for column in np.flatnonzero(levels < schemes.highest):
                upper = levels.copy()
                upper[column] += 1
                merged = schemes.merge(rows, upper)
                kept = float(self.look(merged, upper).max()) * schemes.parts_of(upper)
                steps.append((kept, schemes.parts_of(upper), int(column), upper, merged))
            *_, levels, rows = max(steps, key=lambda step: step[:3])

    def branch(self, rows: Rows, levels: Levels, depth: int) -> None:
        """Look at all vectors that have the levels of the first columns, as far as any may be worth it."""
        vectors = int(self.below[depth])
        if depth == len(self.order):
            self.look(rows, levels)
            self._tell(1)
            return
        if vectors > _SMALL_BRANCH:
            top = levels.copy()
            rest = self.order[depth:]
            top[rest] = self.schemes.highest[rest]
            if self.hopeless(rows, levels, top):
                self._tell(vectors)
                return
        column = self.order[depth]
        for level in range(int(levels[column]), int(self.schemes.highest[column]) + 1):
            if level > levels[column]:
                levels = levels.copy()
                levels[column] = level
                rows = self.schemes.merge(rows, levels)
            self.branch(rows, levels, depth + 1)

    def _tell(self, vectors: int) -> None:
        self._done += vectors
        self.progress("comparing levels", self._done / max(len(self.schemes), 1))

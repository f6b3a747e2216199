"""Level vectors by how many rows each would publish after sampling and suppression, and a private choice among them.

The sketch at the end of section 4 of Li, Qardaji & Su (2012): choose the generalization under ε-differential privacy,
then sample and suppress. Here the exponential mechanism chooses, and a vector's score is

    score(v) = precision(v) · Σ over crowds of H(size of the crowd at v),

what is published on average (H, `expected_rows.py`), each row worth the precision of its labels: 1 minus the mean of
level over height. The choice is made on the whole table, not on the sample, so that the sample is independent of it.

Sensitivity. One person more makes one crowd of every vector larger by one, and leaves the others alone. H never falls
and one person raises it by at most the largest step, which depends on k and β alone; precision depends on the schema
alone and is at most 1. So every score rises by between nothing and the largest step, or falls if the person leaves:
Δ = the largest step, scores are monotone, and exp(ε·score/Δ) is ε-private. All of this holds to the last digit, because
scores are whole numbers. (Rows in crowds of at least k/β, without the average, would have Δ = k/β.)

Cost: one pass over the distinct tuples of a finer vector for each vector.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np

from incrowd.common.arrays import Counts, Ints
from incrowd.common.progress import Progress
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.dp.expected_rows import ExpectedRows
from incrowd.dp.selection import exponential_mechanism
from incrowd.errors import RecipeError
from incrowd.methods.lattice import Lattice, LevelLimits, Levels, Rows
from incrowd.models.full_k_anonymity import FullKAnonymity

MOST_VECTORS = 100_000
PARTS = 1000
"""Precision is told in so many parts."""


class Schemes:
    """All level vectors of a table's quasi-identifiers, those named in `fixed` at their level."""

    def __init__(self, tally: Tally, schema: Schema, fixed: Mapping[str, int]) -> None:
        self.columns = tuple(sorted(schema.quasi))
        limits = LevelLimits(fixed, fixed)
        ranges = [limits.of(name, tally.trees[name].height) for name in self.columns]
        number = int(np.prod([len(levels) for levels in ranges], dtype=object))
        if number > MOST_VECTORS:
            raise RecipeError(
                f"there are {number:,} combinations of levels, more than the {MOST_VECTORS:,} that are compared.  "
                "Hint: fix the levels of some columns, or give some a lower hierarchy."
            )
        # A model that looks at values makes the lattice tell rows apart by them.
        self._lattice = Lattice(
            tally, self.columns, tuple(sorted(schema.sensitive)), [FullKAnonymity(1)], bounds=limits
        )
        self.vectors: Levels = self._lattice.nodes()

    def __len__(self) -> int:
        return len(self.vectors)

    def levels(self, place: int) -> dict[str, int]:
        """Return a vector by the names of its columns."""
        return dict(zip(self.columns, self.vectors[place].tolist(), strict=True))

    @property
    def lowest(self) -> Levels:
        """The finest vector."""
        first: Levels = self.vectors[0]
        return first

    @property
    def highest(self) -> Levels:
        """The coarsest vector."""
        last: Levels = self.vectors[-1]
        return last

    def place(self, levels: Levels) -> int:
        """Return the place of a vector among all."""
        place = 0
        for level, lowest, highest in zip(levels.tolist(), self.lowest.tolist(), self.highest.tolist(), strict=True):
            place = place * (highest - lowest + 1) + level - lowest
        return place

    def finest(self) -> Rows:
        """Return the rows of the finest vector, added up where all that would be published is the same."""
        return self.merge(self._lattice.rows, self.lowest)

    def merge(self, rows: Rows, levels: Levels) -> Rows:
        """Add up the rows of a finer vector by what is the same in this one."""
        return self._lattice.merge(rows, levels)

    def parts_of(self, levels: Levels) -> int:
        """Return the precision of one vector in thousandths."""
        return int(self._parts(levels[None])[0])

    def precision_parts(self) -> Ints:
        """Return the precision of each vector in thousandths; it depends on the hierarchies alone."""
        return self._parts(self.vectors)

    def _parts(self, vectors: Levels) -> Ints:
        heights = np.array([tree.height for tree in self._lattice.trees], dtype=np.float64)
        lost = (vectors / heights).mean(axis=1)
        return np.asarray(np.rint(PARTS * (1 - lost)), dtype=np.int64)

    def crowds(self) -> Iterator[Counts]:
        """Yield, vector by vector, how many rows have each combination of all that would be published.

        Each vector's rows are added up from those of one that is finer in one column.
        """
        lattice, last = self._lattice, self.vectors.shape[1] - 1
        finer = [self.finest()] * (last + 1)
        yield finer[last].counts
        for before, vector in zip(self.vectors[:-1], self.vectors[1:], strict=True):
            changed = int(np.argmax(vector != before))  # columns behind it are back at their lowest level
            finer[changed:] = [lattice.merge(finer[changed], vector)] * (last + 1 - changed)
            yield finer[last].counts

    def scores(self, expected: ExpectedRows, progress: Progress) -> Ints:
        """Return the score of each vector, in units of a thousandth of `expected`'s."""
        parts = self.precision_parts()
        scores = np.empty(len(self), dtype=np.int64)
        for place, sizes in enumerate(self.crowds()):
            scores[place] = parts[place] * expected.units(sizes)
            if place % 64 == 0:
                progress("choosing levels", place / len(self))
        progress("choosing levels", 1.0)
        return scores


def choose_levels(
    tally: Tally,
    schema: Schema,
    fixed: Mapping[str, int],
    expected: ExpectedRows,
    *,
    epsilon: Fraction,
    rng: np.random.Generator,
    progress: Progress,
) -> dict[str, int]:
    """Choose a level for every column that has none yet, under ε-differential privacy."""
    schemes = Schemes(tally, schema, fixed)
    place = exponential_mechanism(
        rng,
        schemes.scores(expected, progress),
        epsilon=epsilon,
        sensitivity=Fraction(PARTS * expected.largest_step),
        monotone=True,
    )
    return schemes.levels(place)

"""Choose privately which columns are published together: columns that depend on each other most.

Single columns are counted with noise. Two columns are worth putting together if their true joint counts are far from
those of independent columns, Σ |count − estimate| over their cells. Estimates come from noisy counts, so one row more
or less changes one count by one, and the sum by at most one: Δ = 1. Two groups are worth the mean over their pairs of
columns, which changes by no more. What chance alone makes of independent columns (about √(2/π) standard deviations
for each cell) is taken off; it is public. Group after group is joined by a private choice, until all of them are as
large as they may be. Cost: one pass over the distinct tuples for each pair of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from incrowd.common.arrays import Floats, Ints
from incrowd.common.records import dataclass
from incrowd.dp.accountant import Accountant
from incrowd.dp.budget import Budget
from incrowd.dp.discrete_laplace import noise_scale, noisy_counts, variance
from incrowd.dp.marginals.cells import Column, WideCells, share_out, total_rows
from incrowd.dp.marginals.spanning import UNIT, pair_counts
from incrowd.dp.selection import permute_and_flip

_SINGLES = Fraction(1, 4)
"""The share of ε for counts of single columns; the choices get the rest."""
_MOST_CELLS = 12.0
"""A cell of a column holds at least about one part in so many of all rows: dependence shows in wide cells too."""

Group = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Grouping:
    """The columns of a table: their names, the cell of each distinct tuple, how many cells there are, and counts."""

    names: Sequence[str]
    cell_of: Sequence[Ints]
    sizes: Sequence[int]
    counts: Ints
    alone: Sequence[bool]
    """Which columns may be a group by themselves; the others go with at least one of these."""

    def choose(
        self, most_columns: int, *, budget: Budget, rng: np.random.Generator, accountant: Accountant
    ) -> list[Group]:
        """Return groups of at most so many columns, for which all of a budget is spent or less."""
        groups: list[Group] = [(place,) for place in range(len(self.names))]
        if len(groups) < 2 or most_columns < 2:
            return groups
        worth = self._worth(self._count(budget * _SINGLES, rng, accountant))
        price = budget * (1 - _SINGLES) / (len(groups) - 1)
        while open_pairs := self._open(groups, most_columns):
            scores = np.array([_mean_worth(worth, *pair) for pair in open_pairs], dtype=np.int64)
            accountant.spend(f"which columns to put together, choice {len(self.names) - len(groups) + 1}", price)
            place = permute_and_flip(rng, scores, epsilon=price.epsilon, sensitivity=Fraction(1), unit=UNIT)
            first, second = open_pairs[place]
            groups = [group for group in groups if group not in (first, second)]
            groups.append(tuple(sorted((*first, *second))))
        return sorted(groups)

    def _open(self, groups: Sequence[Group], most_columns: int) -> list[tuple[Group, Group]]:
        """Return which groups may be joined: first those that may not be alone, as there is room for all of them."""
        pairs = [pair for pair in combinations(groups, 2) if len(pair[0]) + len(pair[1]) <= most_columns]
        stands = {group: any(self.alone[place] for place in group) for group in groups}
        if all(stands.values()):
            return pairs
        return [pair for pair in pairs if stands[pair[0]] != stands[pair[1]]]

    def _count(self, budget: Budget, rng: np.random.Generator, accountant: Accountant) -> list[Column]:
        price = budget / len(self.names)
        spread = variance(noise_scale(Fraction(1), price.epsilon))
        found = []
        for name, cells, size in zip(self.names, self.cell_of, self.sizes, strict=True):
            accountant.spend(f"counts of {name}", price)
            true = np.bincount(cells, weights=self.counts, minlength=size).astype(np.int64)
            found.append(Column(name, cells, noisy_counts(rng, true, epsilon=price.epsilon)[:, None], spread))
        return found

    def _worth(self, singles: Sequence[Column]) -> dict[tuple[int, int], int]:
        """Return, in units, how far each pair's counts are from those of independent columns."""
        rows = np.maximum(total_rows(singles), 0.0)
        wide = [WideCells.of(column, rows, _MOST_CELLS) for column in singles]
        alone = [share_out(one.noisy, rows)[:, 0] for one in wide]
        nothing = np.zeros(len(self.counts), dtype=np.int64)
        found = {}
        for first, second in combinations(range(len(singles)), 2):
            expected = alone[first][:, None] * alone[second][None, :] / max(float(rows[0]), 1.0)
            true = pair_counts(wide[first], wide[second], nothing, 1, self.counts)[:, :, 0]
            found[first, second] = _distance(true, expected)
        return found


def _distance(counts: Ints, expected: Floats) -> int:
    """Return the distance in whole units, less what chance makes of it; estimates are rounded before they are used."""
    units = UNIT.denominator
    distance = int(np.abs(counts * units - np.rint(expected * units).astype(np.int64)).sum())
    return distance - int(np.sqrt(2 / np.pi * expected).sum() * units)


def _mean_worth(worth: dict[tuple[int, int], int], first: Group, second: Group) -> int:
    """Return the mean over the pairs of two groups, rounded down: what is a whole number apart stays so."""
    pairs = [(min(one, other), max(one, other)) for one in first for other in second]
    return sum(worth[pair] for pair in pairs) // len(pairs)

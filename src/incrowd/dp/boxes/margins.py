"""Noisy counts of single columns and of some pairs of columns, beside boxes: how rows are spread inside of these.

Every quasi-identifier is counted by itself. Then pairs of columns are chosen, the class among them, whose true counts
are furthest from those that boxes and single columns make one expect, as in AIM (McKenna et al. 2022): by the L1
distance, which one row changes by at most one, less what the noise of counting the pair would add. Pairs are counted by
wide cells, so that a cell holds more people than noise. Cost: columns² / 2 passes over the distinct tuples.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from incrowd.common.arrays import Floats, Ints
from incrowd.common.records import dataclass
from incrowd.dp.accountant import Accountant
from incrowd.dp.boxes.coded_rows import People
from incrowd.dp.budget import Budget
from incrowd.dp.discrete_laplace import noise_scale, noisy_counts, variance
from incrowd.dp.marginals.told_variance import WideNoise
from incrowd.dp.selection import permute_and_flip

_PEOPLE_PER_NOISE = 4
"""A cell of a pair should hold so many times the scale of its noise, on average."""
_UNIT = Fraction(1, 1024)
_TINY = 1e-9


@dataclass(frozen=True, eq=False)
class Single:
    """How many rows have each code of a column, with noise."""

    counts: Ints | Floats
    variance: float
    """Of one code, as far as it has noise of its own."""
    wide: WideNoise | None = None
    """The noise of cells of several codes, where pairs of columns tell more of these: a cell for each code if None."""

    def noise(self, start: int) -> WideNoise:
        """Return the noise of its cells; codes begin at `start`."""
        codes = len(self.counts) - start
        return self.wide or WideNoise(np.arange(codes), np.full(codes, self.variance))


@dataclass(frozen=True, eq=False)
class Pair:
    """How many rows are in each combination of two columns' cells, with noise; the class is the last column.

    `cells[i][code]` is the cell that a code of the i-th of the two is in.
    """

    columns: tuple[int, int]
    cells: tuple[Ints, Ints]
    counts: Ints
    variance: float


@dataclass(frozen=True, eq=False)
class Margins:
    """All that was counted beside boxes."""

    singles: tuple[Single, ...]
    pairs: tuple[Pair, ...]

    def pooled(self, starts: Sequence[int]) -> tuple[Single, ...]:
        """Return single columns with what pairs tell of them: a pair's cells add up to counts of either column.

        Both are weighed by their noise. Codes begin at `starts`; what a cell has more or less is shared by its codes.
        """
        return tuple(self._pooled(column, one, starts[column]) for column, one in enumerate(self.singles))

    def _pooled(self, column: int, single: Single, start: int) -> Single:
        told = [(pair, pair.columns.index(column)) for pair in self.pairs if column in pair.columns]
        if not told:
            return single
        cells = told[0][0].cells[told[0][1]][start:]
        number = int(told[0][0].counts.shape[told[0][1]])
        codes = np.bincount(cells, minlength=number)
        sums = np.bincount(cells, weights=single.counts[start:], minlength=number)
        known = 1 / np.maximum(codes * single.variance, _TINY)
        best, precise = sums * known, known
        for pair, axis in told:
            weight = 1 / max(pair.variance * pair.counts.shape[1 - axis], _TINY)
            best, precise = best + weight * pair.counts.sum(axis=1 - axis), precise + weight
        counts = single.counts.astype(np.float64)
        counts[start:] += ((best / precise - sums) / np.maximum(codes, 1))[cells]
        there, wide_of = np.unique(cells, return_inverse=True)
        return Single(counts, single.variance, WideNoise(wide_of, (1 / precise)[there]))


def count_singles(
    people: People,
    sizes: Sequence[int],
    names: Sequence[str],
    *,
    budget: Budget,
    rng: np.random.Generator,
    accountant: Accountant,
) -> tuple[Single, ...]:
    """Count every column by itself, in equal shares."""
    price = budget / len(sizes)
    spread = variance(noise_scale(Fraction(1), price.epsilon))
    found = []
    for place, (size, name) in enumerate(zip(sizes, names, strict=True)):
        accountant.spend(f"counts of {name}", price)
        true = people.count_values(place, size).sum(axis=1)
        found.append(Single(noisy_counts(rng, true, epsilon=price.epsilon), spread))
    return tuple(found)


def wide_cells(counts: Floats, total: float, noise: float) -> Ints:
    """Return the cell of each code: neighbours are joined until a pair's cells are worth counting."""
    most = max(float(np.sqrt(max(total, 1.0) / (_PEOPLE_PER_NOISE * noise))), 2.0)
    enough = max(total, 1.0) / most
    before = np.floor((np.cumsum(counts) - counts) / enough)
    alone = counts >= enough
    opens = np.ones(len(counts), dtype=bool)
    opens[1:] = (before[1:] != before[:-1]) | alone[1:] | alone[:-1]
    return np.cumsum(opens) - 1


def count_pairs(
    people: People,
    cells: Sequence[Ints],
    expected: dict[tuple[int, int], Floats],
    names: Sequence[str],
    number: int,
    *,
    choices: Budget,
    counts: Budget,
    rng: np.random.Generator,
    accountant: Accountant,
) -> tuple[Pair, ...]:
    """Choose so many pairs and count them; `expected` is what is known of each pair's cells without counting it."""
    codes = [*people.codes.T, people.classes]
    number = min(number, len(expected))
    if not number:
        return ()
    choice, price = choices / number, counts / number
    scale = noise_scale(Fraction(1), price.epsilon)
    true = {pair: _true_counts(people, codes, cells, pair) for pair in expected}
    worth = {pair: _worth(true[pair], expected[pair], scale) for pair in expected}
    found = []
    for place in range(number):
        open_pairs = list(worth)
        accountant.spend(f"which pair of columns to count, choice {place + 1}", choice)
        scores = np.array([worth[pair] for pair in open_pairs], dtype=np.int64)
        chosen = open_pairs[permute_and_flip(rng, scores, epsilon=choice.epsilon, sensitivity=Fraction(1), unit=_UNIT)]
        worth.pop(chosen)
        first, second = chosen
        accountant.spend(f"counts of {names[first]} and {names[second]}", price)
        noisy = noisy_counts(rng, true[chosen], epsilon=price.epsilon)
        found.append(Pair(chosen, (cells[first], cells[second]), noisy, variance(scale)))
    return tuple(found)


def all_pairs(columns: int) -> list[tuple[int, int]]:
    """Return all pairs of columns, and of each column with the class, which is the last one."""
    return list(combinations(range(columns + 1), 2))


def _true_counts(people: People, codes: Sequence[Ints], cells: Sequence[Ints], pair: tuple[int, int]) -> Ints:
    first, second = (cells[column][codes[column]] for column in pair)
    shape = tuple(int(cells[column].max(initial=0)) + 1 for column in pair)
    counted = np.bincount(first * shape[1] + second, weights=people.counts, minlength=shape[0] * shape[1])
    return counted.astype(np.int64).reshape(shape)


def _worth(counts: Ints, expected: Floats, scale: Fraction) -> int:
    """Return, in units, how far counts are from what is expected, less the noise of counting them.

    Expectations are rounded to whole units first, so floating point has no part in what one row changes.
    """
    units = _UNIT.denominator
    distance = int(np.abs(counts * units - np.rint(expected * units).astype(np.int64)).sum())
    return distance - int(counts.size * scale * units)

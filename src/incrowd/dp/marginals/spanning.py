"""Choose which pairs of columns to count: a tree that joins all columns, each pair by a private choice.

As in MST (McKenna, Miklau & Sheldon 2021), a pair is worth counting if its true counts are far from those of
independent columns: Σ |count − estimate| over its cells, and over classes where pairs are counted by class. Estimates
come from noisy counts, so one row more or less changes one count by one, and the score by at most one: Δ = 1. What the
noise of counting the pair would add (its cells times the noise's scale, as in AIM, McKenna et al. 2022) is taken off;
it is public. Estimates are rounded to whole units before anything is compared, so floating point has no part in what
one row changes. Cost: one pass over the distinct tuples for each pair of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from incrowd.common.arrays import Floats, Ints
from incrowd.dp.accountant import Accountant
from incrowd.dp.budget import Budget
from incrowd.dp.marginals.cells import WideCells, share_out
from incrowd.dp.selection import permute_and_flip

Pair = tuple[int, int]
UNIT = Fraction(1, 1024)


def pair_counts(first: WideCells, second: WideCells, classes: Ints, class_count: int, counts: Ints) -> Ints:
    """Return how many rows are in each combination of two columns' wide cells and the class."""
    shape = (len(first), len(second), class_count)
    key = (first.places * shape[1] + second.places) * class_count + classes
    return np.bincount(key, weights=counts, minlength=int(np.prod(shape))).astype(np.int64).reshape(shape)


def score(counts: Ints, expected: Floats, noise: Fraction) -> int:
    """Return, in units, how far counts are from what is expected of them, less the noise of counting them."""
    units = UNIT.denominator
    distance = int(np.abs(counts * units - np.rint(expected * units).astype(np.int64)).sum())
    return distance - int(counts.size * noise * units)


def choose_tree(
    columns: Sequence[WideCells],
    classes: Ints,
    counts: Ints,
    rows: Floats,
    *,
    budget: Budget,
    noise: Fraction,
    rng: np.random.Generator,
    accountant: Accountant,
) -> list[Pair]:
    """Return the pairs of a tree over all columns, in the order in which they were chosen.

    Each choice is among the pairs that join two parts that are not joined yet; `noise` is the scale with which a pair
    will be counted, and `rows` are about how many rows of each class there are.
    """
    alone = [share_out(column.noisy, rows) for column in columns]
    scores = {}
    for first, second in combinations(range(len(columns)), 2):
        expected = alone[first][:, None, :] * alone[second][None, :, :] / np.maximum(rows, 1.0)
        true = pair_counts(columns[first], columns[second], classes, len(rows), counts)
        scores[first, second] = score(true, expected, noise)
    part_of = np.arange(len(columns))
    chosen: list[Pair] = []
    price = budget / (len(columns) - 1)
    while len(chosen) < len(columns) - 1:
        open_pairs = [pair for pair in scores if part_of[pair[0]] != part_of[pair[1]]]
        accountant.spend(f"which pair of columns to count, choice {len(chosen) + 1}", price)
        worth = np.array([scores[pair] for pair in open_pairs], dtype=np.int64)
        place = permute_and_flip(rng, worth, epsilon=price.epsilon, sensitivity=Fraction(1), unit=UNIT)
        first, second = open_pairs[place]
        chosen.append((first, second))
        part_of[part_of == part_of[second]] = part_of[first]
    return chosen

"""Rows whose counts are those of a tree of pairs: column after column, each given the one above it in the tree.

Counts become whole by systematic rounding: what a cell gets is its exact count rounded down or up, on average the exact
count, and every parent's cell is used up. Which of a cell's rows get which value is chance. Nothing here looks at the
table: it costs no privacy. Cost: a pass over the rows for each column.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from incrowd.common.arrays import Floats, Ints
from incrowd.common.randomness import words
from incrowd.dp.marginals.agreement import Marginals
from incrowd.dp.marginals.cells import WideCells, share_out
from incrowd.dp.marginals.spanning import Pair
from incrowd.kernels.dealing import deal_listed, deal_values


def deal(totals: Ints, weights: Floats, rng: np.random.Generator) -> Ints:
    """Share each total among the cells of its line, by their weights; evenly where all of them are 0."""
    sums = weights.sum(axis=1, keepdims=True)
    shares = np.where(sums > 0, weights / np.where(sums > 0, sums, 1.0), 1 / weights.shape[1])
    ends = np.cumsum(shares, axis=1) * totals[:, None]
    ends[:, -1] = totals
    ends = np.minimum(ends, totals[:, None])
    places = np.floor(ends + rng.random((len(totals), 1))).astype(np.int64)
    return np.diff(places, axis=1, prepend=0)


def attach(above: Ints, counts: Ints, rng: np.random.Generator) -> Ints:
    """Give every row a value: of the rows with value a, `counts[a, b]` get b, and chance says which."""
    return deal_values(above, counts, words(rng, len(above)))


def generate(
    columns: Sequence[WideCells], tree: Sequence[Pair], marginals: Marginals, rows: Floats, rng: np.random.Generator
) -> tuple[list[Ints], Ints]:
    """Return the cell of every row in each column, and its class; `rows` says about how many each class has."""
    class_count = len(rows)
    totals = deal(np.rint(rows.sum(keepdims=True)).astype(np.int64), rows[None, :], rng)[0]
    start = deal(totals, marginals.singles[0].T, rng)
    classes, wide = np.repeat(np.arange(class_count), totals), {0: np.repeat(*_cells_of(start))}
    waiting = dict(zip(tree, marginals.pairs, strict=True))
    while waiting:
        first, second = next(pair for pair in waiting if pair[0] in wide or pair[1] in wide)
        weights = waiting.pop((first, second)).transpose(0, 2, 1)
        if first not in wide:
            first, second, weights = second, first, weights.transpose(2, 1, 0)
        # A value depends on the one above it and on the class.
        above = wide[first] * class_count + classes
        lines = weights.reshape(-1, weights.shape[2])
        wide[second] = attach(above, deal(np.bincount(above, minlength=len(lines)), lines, rng), rng)
    return [_narrow(column, wide[place], classes, class_count, rng) for place, column in enumerate(columns)], classes


def _cells_of(counts: Ints) -> tuple[Ints, Ints]:
    return np.tile(np.arange(counts.shape[1]), counts.shape[0]), counts.ravel()


def _narrow(column: WideCells, wide: Ints, classes: Ints, class_count: int, rng: np.random.Generator) -> Ints:
    """Go back from wide cells to the cells that were joined, by their own noisy counts."""
    cells = len(column.wide_of)
    if len(column) == cells:
        return wide
    bounds = np.searchsorted(column.wide_of, np.arange(len(column) + 1))
    above = wide * class_count + classes
    totals = np.bincount(above, minlength=len(column) * class_count).reshape(len(column), class_count)
    chance, dealt = words(rng, len(above)), []
    for place, rows in enumerate(totals):
        inside = np.arange(bounds[place], bounds[place + 1])
        weights = share_out(column.column.noisy[inside].astype(np.float64), rows.astype(np.float64))
        dealt.append(np.repeat(np.tile(inside, class_count), deal(rows, weights.T, rng).ravel()))
    return deal_listed(above, totals.ravel(), np.concatenate(dealt), chance)

"""How wrong the counts of a made column are: by the noise that is left, and by more if rows are far from the counts.

A column is counted by itself; with others, neighbouring cells of it are counted again, joined to wide ones. The best
mean of all these has less noise, most of all for ranges that hold whole wide cells. So far rows may be away from the
column's own counts. Where they are further away, rows are wrong: a model never has fewer than no rows, so that values
that are rare get too many, and frequent ones too few. Only public numbers are used, so it costs no privacy.
Cost: questions × cells.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from incrowd.common.arrays import Floats, Ints
from incrowd.common.records import dataclass

_QUESTIONS = 200
_WIDTHS = (0.0, *np.geomspace(0.5, 256.0, 19).tolist())


@dataclass(frozen=True, eq=False)
class WideNoise:
    """The noise of a column's wide cells, by all that was counted of them: `wide_of[cell]` is where a cell is.

    `counts` are the best mean of all that was counted, where it is known, wide cells × classes.
    """

    wide_of: Ints
    variances: Floats
    counts: Floats | None = None

    def of(self, asked: Floats, variance: float) -> Floats:
        """Return the variance of each question, up to what all rows have; single cells have this variance.

        What a wide cell has is known better than what its cells have: these are moved to it by equal amounts. In the
        same way, wide cells are moved to all rows, by their variance.
        """
        joined, starts = self._cells
        inside = np.add.reduceat(asked, starts, axis=1)
        of_cells = variance * (inside * (1 - inside / joined)).sum(axis=1)
        share = inside / joined
        together = (share @ self.variances) ** 2 / max(float(self.variances.sum()), 1e-9)
        return np.asarray(of_cells + share**2 @ self.variances - together)

    def moved(self, noisy: Ints | Floats) -> Floats:
        """Return a column's own counts, cells × classes, moved to the best mean."""
        if self.counts is None:
            return noisy.astype(np.float64)
        joined, starts = self._cells
        sums = np.add.reduceat(noisy, starts, axis=0)
        return np.asarray(noisy + ((self.counts - sums) / joined[:, None])[self.wide_of])

    @cached_property
    def _cells(self) -> tuple[Ints, Ints]:
        """How many cells each wide one has, and the first of them."""
        joined = np.bincount(self.wide_of, minlength=len(self.variances))
        return joined, np.searchsorted(self.wide_of, np.arange(len(joined)))


@dataclass(frozen=True)
class ColumnNoise:
    """The variance of one count of a column, and from how many counts on more of them add little.

    Of n of N counts, it is n/(1 + n/`width`)·(1 − n/N) times that of one: the ends of a range are known worse than what
    is between them. A width of 0 means that each count has noise of its own.
    """

    variance: float
    width: float = 0.0

    def of(self, number: float, of_all: float) -> float:
        """Return the variance of so many counts."""
        return self.variance * float(counts_alone(number, self.width)) * (1 - number / of_all)

    def larger(self, factor: float) -> ColumnNoise:
        """Return the same with a variance that is so many times as large."""
        return ColumnNoise(self.variance * factor, self.width)

    def of_codes(self, cells: int, codes: int) -> ColumnNoise:
        """Return the same where cells have so many codes: a cell of w codes has w times what each of them has."""
        return ColumnNoise(self.variance * cells / codes, self.width * codes / cells)


def counts_alone(number: Any, width: float) -> Any:
    """Return how many counts with noise of their own so many neighbours come to."""
    return number / (1 + number / width) if width > 0 else number


def told_noise(noisy: Ints | Floats, made: Ints, variance: float, wide: WideNoise, *, ordered: bool) -> ColumnNoise:
    """Return the noise of one count, from a column's noisy counts, those of the rows, and the noise of these counts.

    It is the mean over questions about values that rows have: one value, up to three, or a range between two. Noisy
    counts are cells × classes, and `variance` is that of a cell's classes together.
    """
    cells, total = len(made), int(made.sum())
    if cells < 2 or total < 1:
        return ColumnNoise(variance)
    rng = np.random.default_rng(_QUESTIONS)  # which questions these are hides nobody
    by_class = wide.moved(noisy)
    counts = by_class.sum(axis=1)
    away = made - (counts - (counts.sum() - total) / cells)  # all add up to the same number of rows
    drawn = np.searchsorted(np.cumsum(made / total)[:-1], rng.random((_QUESTIONS, 3)), side="right")
    several_values = rng.random(_QUESTIONS) < 1 / 2
    asked = np.zeros((_QUESTIONS, cells))
    for question, some, several in zip(asked, drawn, several_values, strict=True):
        if ordered:
            question[some[:2].min() : some[:2].max() + 1] = 1
        else:
            question[some if several else some[:1]] = 1
    number = asked.sum(axis=1)
    rest = np.maximum(1 - number / cells, 1 / cells)
    left = np.minimum(wide.of(asked, variance), variance * number * rest)
    width = _likely_width(left, number, rest) if ordered else 0.0
    scale = counts_alone(number, width) * rest
    # Counts below 0 become none, and their noise is gone; of others it stays (Stein's estimate of a risk).
    # Where the best mean is not known, rows tell too little of what became of noise: then all of it stays.
    noise, stays = variance * number * rest, left
    if wide.counts is not None:
        noise, stays = left, left * (asked @ (by_class > 0).mean(axis=1)) / number
    told = (asked @ away) ** 2 - noise + 2 * stays
    return ColumnNoise(float(max((told / scale).mean(), (stays / scale).mean())), width)


def _likely_width(left: Floats, number: Floats, rest: Floats) -> float:
    """Return the width for which variances are most nearly in proportion to what they are taken to be."""
    known = left > 0
    log = np.log(left[known] / rest[known])
    spread = [float(np.std(log - np.log(counts_alone(number[known], width)))) for width in _WIDTHS] if log.size else []
    return _WIDTHS[int(np.argmin(spread))] if spread else 0.0

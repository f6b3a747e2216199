"""How wrong the counts of a made column are: by the noise that is left, and by more if rows are far from the counts.

A column is counted by itself; with others, neighbouring cells of it are counted again, joined to wide ones. The best
mean of all these has less noise, most of all for ranges that hold whole wide cells. So far rows may be away from the
column's own counts. Where they are further away, rows are wrong: a model never has fewer than no rows, so that values
that are rare get too many, and frequent ones too few. Only public numbers are used, so it costs no privacy.
Cost: questions × cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from incrowd.common.arrays import Floats, Ints

_QUESTIONS = 200


@dataclass(frozen=True, eq=False)
class WideNoise:
    """The noise of a column's wide cells, by all that was counted of them: `wide_of[cell]` is where a cell is.

    `counts` are the best mean of all that was counted, where it is known.
    """

    wide_of: Ints
    variances: Floats
    counts: Floats | None = None

    def of(self, asked: Floats, variance: float) -> Floats:
        """Return the variance of each question, up to what all rows have; single cells have this variance.

        What a wide cell has is known better than what its cells have: these are moved to it by equal amounts. In the
        same way, wide cells are moved to all rows, by their variance.
        """
        joined = np.bincount(self.wide_of, minlength=len(self.variances))
        starts = np.searchsorted(self.wide_of, np.arange(len(joined)))
        inside = np.add.reduceat(asked, starts, axis=1)
        of_cells = variance * (inside * (1 - inside / joined)).sum(axis=1)
        share = inside / joined
        together = (share @ self.variances) ** 2 / max(float(self.variances.sum()), 1e-9)
        return np.asarray(of_cells + share**2 @ self.variances - together)

    def moved(self, noisy: Ints | Floats) -> Floats:
        """Return a column's own counts, moved to the best mean."""
        if self.counts is None:
            return noisy.astype(np.float64)
        joined = np.bincount(self.wide_of, minlength=len(self.variances))
        sums = np.bincount(self.wide_of, weights=noisy, minlength=len(self.variances))
        return np.asarray(noisy + ((self.counts - sums) / joined)[self.wide_of])


def told_variance(noisy: Ints | Floats, made: Ints, variance: float, wide: WideNoise, *, ordered: bool) -> float:
    """Return the variance of one count, from a column's noisy counts, those of the rows, and the noise of these counts.

    It is the mean over questions about values that rows have: one value, up to three, or a range between two. The
    variance of n of N counts is taken to be n·(1 − n/N) times that of one.
    """
    cells, total = len(made), int(made.sum())
    if cells < 2 or total < 1:
        return variance
    rng = np.random.default_rng(_QUESTIONS)  # which questions these are hides nobody
    counts = wide.moved(noisy)
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
    scale = number * np.maximum(1 - number / cells, 1 / cells)
    distance = float(((asked @ away) ** 2 / scale).mean())
    each = np.minimum(wide.of(asked, variance) / scale, variance)
    # Counts below 0 become none, and their noise is gone; of others it stays (Stein's estimate of a risk).
    stays = float((each * (asked @ (counts > 0)) / number).mean())
    noise = variance if wide.counts is None else float(each.mean())
    return max(distance - noise + 2 * stays, stays)

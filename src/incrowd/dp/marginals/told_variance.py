"""How wrong the counts of a made column are: by its noise, or by more if rows are far from what was counted of it.

Noisy counts are right on average. Where rows are further from them than noise is, rows are wrong: a model never has
fewer than no rows, so that values that are rare together get too many, and frequent ones too few. Where rows are near,
the column's own noise is most of the error; what else was counted takes some of it off. Only public numbers are used,
so it costs no privacy. Cost: questions × cells.
"""

from __future__ import annotations

import numpy as np

from incrowd.common.arrays import Floats, Ints

_QUESTIONS = 200
_LEAST = 0.8
"""So much of the noise is left in the end, in releases of Adult and NIST's excerpts."""


def told_variance(noisy: Ints | Floats, made: Ints, variance: float, *, ordered: bool) -> float:
    """Return the variance of one count, from a column's noisy counts, those of the rows, and the variance of noise.

    It is the mean over questions about values that rows have: one value, up to three, or a range between two. The
    variance of n of N counts is taken to be n·(1 − n/N) times that of one.
    """
    cells, total = len(made), int(made.sum())
    if cells < 2 or total < 1:
        return variance
    rng = np.random.default_rng(_QUESTIONS)  # which questions these are hides nobody
    away = made - (noisy - (noisy.sum() - total) / cells)  # all add up to the same number of rows
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
    return max(variance * _LEAST, distance)

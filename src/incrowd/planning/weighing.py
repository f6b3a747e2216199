"""Which of several ways to publish keeps most, and why each of the others is not it.

What a way keeps is the share of rows that it publishes times the detail that they are left with. The best keeps most;
others count as equally good if they keep as much but for a stated tolerance, and nothing beats them on both.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

TOLERANCE = 0.005
"""Ways whose kept shares differ by no more than this are equally good: half a percent of the table."""


def weighed(found: pl.DataFrame) -> pl.DataFrame:
    """Add to lines of `rate`, `limit`, `published` and `distortion`: what each keeps, which are best, and why.

    >>> lines = {"rate": [1.0, 1.0, 1.0], "limit": [0.2, 0.4, 0.8], "published": [0.5, 0.9, 0.9]}
    >>> told = weighed(pl.DataFrame({**lines, "distortion": [0.1, 0.2, 0.3]}))
    >>> told["kept"].round(3).to_list(), told["best"].to_list()
    ([0.45, 0.72, 0.63], [False, True, False])
    >>> told["why"].to_list()[2]
    'beaten by rate 1, limit 0.4: as many rows or more, with no more distortion'
    """
    published = found["published"].to_numpy()
    distortion = found["distortion"].fill_null(np.inf).to_numpy()
    kept = np.where(published > 0, published * (1 - np.where(np.isfinite(distortion), distortion, 1.0)), 0.0)
    unbeaten = not_beaten(published, distortion) & (published > 0)
    first = _first_alike(found)
    most = kept.max(initial=0.0)
    best = unbeaten & (kept >= most - TOLERANCE) & (first == np.arange(len(kept)))
    return found.with_columns(
        kept=pl.Series(kept, dtype=pl.Float64),
        best=pl.Series(best, dtype=pl.Boolean),
        why=pl.Series(_reasons(found, published, distortion, kept, best, first), dtype=pl.String),
    )


def not_beaten(gain: NDArray[np.float64], cost: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which of several choices no other one beats: at least as good in both, and better in one.

    >>> not_beaten(np.array([1.0, 2.0, 2.0, 3.0]), np.array([0.1, 0.1, 0.2, 0.3])).tolist()
    [False, True, False, True]
    """
    return np.asarray(~_beats(gain, cost).any(axis=1))


def _beats(gain: NDArray[np.float64], cost: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return, line by line, which others beat it."""
    better = (gain[None, :] >= gain[:, None]) & (cost[None, :] <= cost[:, None])
    strictly = (gain[None, :] > gain[:, None]) | (cost[None, :] < cost[:, None])
    return np.asarray(better & strictly)


def _first_alike(found: pl.DataFrame) -> NDArray[np.int64]:
    """Return the first line of the same rate that publishes the same: a higher limit that changes nothing."""
    lines = found.select("rate", "published", "distortion").with_row_index("line")
    first = lines.select(pl.col("line").first().over("rate", "published", "distortion"))["line"]
    return first.to_numpy().astype(np.int64)


def _reasons(
    found: pl.DataFrame,
    published: NDArray[np.float64],
    distortion: NDArray[np.float64],
    kept: NDArray[np.float64],
    best: NDArray[np.bool_],
    first: NDArray[np.int64],
) -> list[str]:
    """Say of each line why it is best, or why not. There is one line for each pair that was asked for: few."""
    beats = _beats(published, distortion)
    top = int(kept.argmax()) if len(kept) else 0
    named = [f"rate {line['rate']:g}, limit {line['limit']:g}" for line in found.select("rate", "limit").to_dicts()]
    told = []
    for place in range(len(kept)):
        if published[place] == 0:
            told.append("nothing can be published")
        elif first[place] != place:
            told.append(f"the same as {named[first[place]]}")
        elif beats[place].any():
            # Of all that beat it, the one that keeps most is the one to look at.
            by = int(np.where(beats[place], kept, -1.0).argmax())
            told.append(f"beaten by {named[by]}: as many rows or more, with no more distortion")
        elif best[place]:
            told.append("keeps most" if place == top else f"keeps as much, within {TOLERANCE:g}")
        else:
            fewer = published[place] < published[top]
            told.append("less distortion, but fewer rows" if fewer else "more rows, but more distortion")
    return told

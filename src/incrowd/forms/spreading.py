"""How many rows of each value, and of each pair of values, a release lets one expect.

A row is spread evenly over all that its label may stand for, as in `kl_divergence.py`. Every run of codes is added at
its first code and taken away after its last, so that running totals count them all. Cost: one count of the published
lines, and one pass over the combinations of a pair's values.
"""

from __future__ import annotations

import numpy as np

from incrowd.common.arrays import Floats, Ints
from incrowd.core.labelled import Labelled
from incrowd.core.tally import Tally
from incrowd.forms.reach import reach


def expected_counts(before: Tally, release: Labelled, name: str) -> Floats:
    """Return the expected rows of each code of a column."""
    lows, highs = runs_of_lines(before, release, name)
    size = before.trees[name].size
    weights = release.counts / (highs - lows)
    steps = np.bincount(lows, weights, size + 1) - np.bincount(highs, weights, size + 1)
    return np.asarray(np.maximum(np.cumsum(steps)[:-1], 0.0))


def expected_pairs(before: Tally, release: Labelled, one: str, two: str) -> Floats:
    """Return the expected rows of each pair of codes of two columns, as a matrix."""
    first, second = runs_of_lines(before, release, one), runs_of_lines(before, release, two)
    rows, columns = before.trees[one].size + 1, before.trees[two].size + 1
    weights = release.counts / ((first[1] - first[0]) * (second[1] - second[0]))
    corners = np.zeros(rows * columns)
    for place_one, sign_one in ((first[0], 1), (first[1], -1)):
        for place_two, sign_two in ((second[0], 1), (second[1], -1)):
            corners += sign_one * sign_two * np.bincount(place_one * columns + place_two, weights, len(corners))
    totals = corners.reshape(rows, columns).cumsum(axis=0).cumsum(axis=1)[:-1, :-1]
    # What running totals leave of cells that nobody is in is rounding, and would count as people.
    return np.where(totals > 1e-9 * max(float(release.counts.sum()), 1.0), totals, 0.0)


def runs_of_lines(before: Tally, release: Labelled, name: str) -> tuple[Ints, Ints]:
    """Return the codes from and up to which each published line may be."""
    if name in release.shown.columns:
        lows, highs = reach(before, release, name)
        return lows[release.groups].astype(np.int64), highs[release.groups].astype(np.int64)
    codes = release.sensitive[:, list(release.schema.sensitive).index(name)].astype(np.int64)
    return codes, codes + 1

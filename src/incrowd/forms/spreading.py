"""How many rows of each value, and of each pair of values, a release lets one expect.

A row is spread evenly over all that its label may stand for, as in `kl_divergence.py`. Every run of codes is added at
its first code and taken away after its last, so that running totals count them all. Cost: one count of the published
lines, and one pass over the combinations of a pair's values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from incrowd.common.arrays import Codes, Floats, Ints
from incrowd.core.labelled import Labelled
from incrowd.core.tally import Tally
from incrowd.forms.reach import Meaning, boxes_of_groups, meaning


def expected_counts(before: Tally, release: Labelled, name: str) -> Floats:
    """Return the expected rows of each code of a column."""
    lows, highs, weights = _spread(before, release, (name,))
    size = before.trees[name].size
    steps = np.bincount(lows[:, 0], weights, size + 1) - np.bincount(highs[:, 0], weights, size + 1)
    return np.asarray(np.maximum(np.cumsum(steps)[:-1], 0.0))


def expected_pairs(before: Tally, release: Labelled, one: str, two: str) -> Floats:
    """Return the expected rows of each pair of codes of two columns, as a matrix."""
    lows, highs, weights = _spread(before, release, (one, two))
    rows, columns = before.trees[one].size + 1, before.trees[two].size + 1
    corners = np.zeros(rows * columns)
    for place_one, sign_one in ((lows[:, 0], 1), (highs[:, 0], -1)):
        for place_two, sign_two in ((lows[:, 1], 1), (highs[:, 1], -1)):
            corners += sign_one * sign_two * np.bincount(place_one * columns + place_two, weights, len(corners))
    totals = corners.reshape(rows, columns).cumsum(axis=0).cumsum(axis=1)[:-1, :-1]
    # What running totals leave of cells that nobody is in is rounding, and would count as people.
    return np.where(totals > 1e-9 * max(float(release.counts.sum()), 1.0), totals, 0.0)


def meaning_of_lines(before: Tally, release: Labelled, name: str) -> Meaning:
    """Return what each published line may stand for in a column."""
    if name in release.shown.columns:
        found = meaning(before, release, name)
        label_of = found.label_of if found.pieces is None else found.label_of[release.groups]
        return Meaning(
            found.lows[release.groups], found.highs[release.groups], found.torn[release.groups], label_of, found.pieces
        )
    codes = release.sensitive[:, list(release.schema.sensitive).index(name)].astype(np.int64)
    return Meaning(codes, codes + 1, np.zeros(len(codes), dtype=bool), np.empty(0, dtype=np.int64), None)


def _spread(before: Tally, release: Labelled, names: Sequence[str]) -> tuple[Ints, Ints, Floats]:
    """Return the boxes of codes that lines may stand for in some columns, and how many rows a cell of each has."""
    shown = [name for name in names if name in release.shown.columns]
    boxes = boxes_of_groups(before, release, shown)
    cells = np.prod(boxes.highs - boxes.lows, axis=1, dtype=np.float64)
    of_group = np.add.reduceat(cells, boxes.starts[:-1]) if len(cells) else cells
    many = np.diff(boxes.starts)[release.groups]
    line = np.repeat(np.arange(len(many)), many)
    box = boxes.starts[release.groups][line] + np.arange(len(line)) - (np.cumsum(many) - many)[line]

    def ends(name: str, found: Codes, more: int) -> Ints:
        place = shown.index(name) if name in shown else list(release.schema.sensitive).index(name)
        codes: Codes = found[box, place] if name in shown else release.sensitive[line, place] + more
        return codes.astype(np.int64)

    lows = np.stack([ends(name, boxes.lows, 0) for name in names], axis=1)
    highs = np.stack([ends(name, boxes.highs, 1) for name in names], axis=1)
    return lows, highs, release.counts[line] / of_group[release.groups][line]

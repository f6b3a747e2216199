"""Which of a column's values are frequent, as all of its labels together tell: tight labels inform wide ones.

The self-consistent distribution of censored values (Turnbull 1976), by expectation and maximization from an even start:
each label's rows are shared out among its values as frequent as these are, and what values get is how frequent they
are. Some rows are spread evenly, so that no value is ruled out. Cost: some passes over the pieces of distinct labels.
"""

from __future__ import annotations

import numpy as np

from incrowd.common.arrays import Floats, Ints

_ROUNDS = 100
_EVEN = 0.02
"""The share of the rows that is spread evenly."""


def likely_names(offsets: Ints, pieces: Ints, sizes: Floats, rows: Floats, number: int) -> Floats:
    """Return the mass of each of so many texts, where label i stands for `pieces[offsets[i]:offsets[i + 1]]`."""
    label_of = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    even = np.zeros(number)
    np.maximum.at(even, pieces, sizes)
    even /= max(even.sum(), 1e-300)
    mass = even
    for _ in range(_ROUNDS):
        of_labels = np.bincount(label_of, weights=mass[pieces], minlength=len(offsets) - 1)
        ratio = np.divide(rows, of_labels, out=np.zeros(len(rows)), where=of_labels > 0)
        mass = _smoothed(mass * np.bincount(pieces, weights=ratio[label_of], minlength=number), even)
    return mass


def likely_points(offsets: Ints, lows: Floats, highs: Floats, rows: Floats) -> tuple[Floats, Floats]:
    """Return cuts and the mass below each, where label i stands for ranges `offsets[i]` to `offsets[i + 1]`."""
    cuts = np.unique(np.concatenate([lows, highs]))
    first, last = np.searchsorted(cuts, lows), np.searchsorted(cuts, highs)
    label_of = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    even = np.diff(cuts) / max(cuts[-1] - cuts[0], 1e-300)
    mass = even
    for _ in range(_ROUNDS):
        below = np.concatenate(([0.0], np.cumsum(mass)))
        of_labels = np.bincount(label_of, weights=below[last] - below[first], minlength=len(offsets) - 1)
        ratio = np.divide(rows, of_labels, out=np.zeros(len(rows)), where=of_labels > 1e-12)[label_of]
        steps = np.bincount(first, ratio, len(cuts)) - np.bincount(last, ratio, len(cuts))
        mass = _smoothed(mass * np.maximum(np.cumsum(steps)[:-1], 0.0), even)
    return cuts, np.concatenate(([0.0], np.cumsum(mass)))


def _smoothed(mass: Floats, even: Floats) -> Floats:
    total = mass.sum()
    return np.asarray((1 - _EVEN) * mass / total + _EVEN * even if total > 0 else even)

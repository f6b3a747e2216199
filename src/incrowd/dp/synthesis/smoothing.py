"""Take noise off the counts of an ordered column: neighbouring values are often about equally frequent.

Counts are a sum of cosines; the shorter a wave, the more of it is taken off. How much is decided by Stein's (1981)
unbiased estimate of the risk, from the noisy counts alone: where neighbours differ by more than noise, nothing is taken
off. Counts that stand out from their neighbours by far more than noise (a working week of 40 hours) are left as they
are. Nothing here looks at the table. Cost: cells².
"""

from __future__ import annotations

import numpy as np

from incrowd.common.arrays import Bools, Floats

_STRENGTHS = np.concatenate([[0.0], np.logspace(-1, 7, 25)])
_STANDS_OUT = 4.0
_ROUNDS = 3
_NEIGHBOURS = 3
_FEWEST, _MOST = 8, 4096


def smoothed(noisy: Floats, variance: float) -> Floats:
    """Return counts, cells × classes, with less noise; of few cells, or far too many, as they are."""
    cells = len(noisy)
    if not _FEWEST <= cells <= _MOST or variance <= 0:
        return noisy
    waves = _waves(cells)
    bend = (2 - 2 * np.cos(np.pi * np.arange(cells) / cells)) ** 2
    outside = np.abs(noisy - _middle(noisy)) > _STANDS_OUT * np.sqrt(variance)
    found = noisy
    for _ in range(_ROUNDS):
        filled = np.where(outside, _between(noisy, outside), noisy)
        found = _least_risk(filled, variance, waves, bend)
        stands_out = np.abs(noisy - found) > _STANDS_OUT * np.sqrt(variance)
        if (stands_out <= outside).all():
            break
        outside = stands_out | outside
    return np.where(outside, noisy, found)


def _least_risk(noisy: Floats, variance: float, waves: Floats, bend: Floats) -> Floats:
    """Return the counts of the strength with the smallest estimated risk."""
    height = waves @ noisy
    kept = 1 / (1 + _STRENGTHS[:, None] * bend)
    risk = ((1 - kept) ** 2) @ (height**2).sum(axis=1) + 2 * variance * noisy.shape[1] * kept.sum(axis=1)
    return np.asarray(waves.T @ (kept[risk.argmin()][:, None] * height))


def _middle(noisy: Floats) -> Floats:
    """Return the median of each count and its neighbours."""
    padded = np.pad(noisy, ((_NEIGHBOURS, _NEIGHBOURS), (0, 0)), mode="reflect")
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * _NEIGHBOURS + 1, axis=0), axis=-1))


def _waves(cells: int) -> Floats:
    """Return cosines of all lengths as rows; they are orthogonal, and each has length one."""
    places, lengths = np.arange(cells) + 0.5, np.arange(cells)
    waves = np.cos(np.pi * lengths[:, None] * places / cells) * np.sqrt(2 / cells)
    waves[0] /= np.sqrt(2)
    return np.asarray(waves, dtype=np.float64)


def _between(noisy: Floats, outside: Bools) -> Floats:
    """Return the line between the counts on both sides, where counts stand out."""
    places = np.arange(len(noisy))
    filled = noisy.copy()
    for column in range(noisy.shape[1]):
        inside = ~outside[:, column]
        if inside.any():
            filled[:, column] = np.interp(places, places[inside], noisy[inside, column])
    return filled

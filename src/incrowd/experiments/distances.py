"""How far one histogram is from another, row by row of a matrix."""

from __future__ import annotations

import numpy as np

from incrowd.common.arrays import Floats

SMOOTHING = 0.5
"""Added to every bar of both histograms, so that an empty one, or a negative one that counts as empty, is possible."""


def city_block(true: Floats, found: Floats) -> Floats:
    """Return the sum of the differences between bars, in people."""
    return np.asarray(np.abs(true - found).sum(axis=1))


def kullback_leibler(true: Floats, found: Floats) -> Floats:
    """Return the divergence of the found shares from the true ones, Σ p ln(p/q), in nats."""
    p, q = (np.maximum(counts, 0.0) + SMOOTHING for counts in (true, found))
    p, q = (counts / counts.sum(axis=1, keepdims=True) for counts in (p, q))
    return np.asarray((p * np.log(p / q)).sum(axis=1))

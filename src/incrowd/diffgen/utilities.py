"""How good a specialization is, as a score that one person changes by little.

`max`: rows that are in the majority class of their piece (Δ = 1). `infogain`: bits that the pieces tell of the class,
per row (Δ = log2 of the number of classes); both look at one column alone, as in Mohammed et al. 2011. `gini` looks at
the boxes that are there already, as a decision tree would: Σ n_class² / n over the pieces less the same over the
boxes; adding somebody to a box changes either sum by at most 1, so Δ = 2 (Friedman & Schuster 2010). Without classes,
`width` is how much narrower the shown values become, summed over rows (Δ = 1).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Utility = Literal["max", "infogain", "gini", "width"]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UNIT = Fraction(1, 2**20)
"""Scores are whole numbers of this: what floating point does to them is far below it."""


def sensitivity(utility: Utility, classes: int) -> Fraction:
    """Return by how much one person can change a score, rounding included."""
    if utility == "max":
        return Fraction(1)
    if utility == "infogain":
        return Fraction(math.ceil(math.log2(max(classes, 2)) * 2**30), 2**30) + UNIT
    return Fraction(2 if utility == "gini" else 1) + UNIT


def majority(pieces: Ints) -> NDArray[np.int64]:
    """Return, for pieces × classes along the last two axes, how many rows are of their piece's majority class."""
    return np.asarray(pieces.max(axis=-1).sum(axis=-1))


def information_gain(pieces: Ints) -> Floats:
    """Return the bits per row that pieces tell of the class."""
    rows = pieces.sum(axis=(-1, -2))
    whole = _bits(rows) - _bits(pieces.sum(axis=-2)).sum(axis=-1)
    parts = (_bits(pieces.sum(axis=-1)) - _bits(pieces).sum(axis=-1)).sum(axis=-1)
    return np.asarray(np.divide(whole - parts, rows, out=np.zeros(np.shape(rows)), where=rows > 0))


def purity(pieces: Ints) -> Floats:
    """Return Σ n_class² / n of each piece: n if all are of one class, n / classes if they are even."""
    rows = pieces.sum(axis=-1)
    squares = (pieces.astype(np.float64) ** 2).sum(axis=-1)
    return np.asarray(np.divide(squares, rows, out=np.zeros(np.shape(rows)), where=rows > 0))


def _bits(counts: Ints) -> Floats:
    numbers = counts.astype(np.float64)
    return np.asarray(numbers * np.log2(np.maximum(numbers, 1.0)))

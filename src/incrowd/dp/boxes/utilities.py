"""How good a specialization is, as a score that one person changes by little.

`max`: rows that are in the majority class of their piece. One person more raises one piece's largest count by 1 or
not at all: Δ = 1, monotone. `infogain`: bits that the pieces tell of the class, per row. It is never below 0 nor above
log2 of the number of classes, so no person changes it by more: Δ = log2(classes). Both look at one column alone, as in
Mohammed et al. 2011. `gini` looks at the boxes that are there already, as a decision tree would: Σ n_class² / n over
the pieces less the same over the boxes. Somebody who joins n others, n_c of the same class, changes a piece's sum by
(2·n_c + 1 − Σ n_j² / n) / (n + 1), which is above −1 and at most 1. What is taken off for the boxes is the same for
all candidates, and the exponential mechanism does not see what all have in common: Δ = 1, where Friedman & Schuster
(2010) have 2. Without classes, `width` is how much narrower the shown values become, summed over rows; a person adds
the same amount, from 0 to 1, whoever else is there: Δ = 1, monotone.

Scores are whole numbers of `UNIT`. `max`, `gini` and `width` are computed with whole numbers only: floating point has
no part in what one person can change.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

import numpy as np

from incrowd.common.arrays import Floats, Ints

Utility = Literal["max", "infogain", "gini", "width"]
UTILITIES = ("max", "infogain", "gini", "width")

UNIT_BITS = 20
UNIT = Fraction(1, 2**UNIT_BITS)
MOST_ROWS = 2**31
"""Squares of more rows do not fit 64 bits."""


def unit_of(utility: Utility) -> Fraction:
    """Return what scores are whole numbers of."""
    return Fraction(1) if utility == "max" else UNIT


def sensitivity(utility: Utility, classes: int) -> Fraction:
    """Return by how much one person can change a score, rounding included."""
    if utility == "infogain":
        return Fraction(math.ceil(math.log2(max(classes, 2)) * 2**30), 2**30) + UNIT
    return 1 + UNIT if utility == "gini" else Fraction(1)


def is_monotone(utility: Utility) -> bool:
    """Whether one person more never lowers a score: then half of the exponential mechanism's noise is enough."""
    return utility in ("max", "width")


def majority(pieces: Ints) -> Ints:
    """Return, for pieces × classes along the last two axes, how many rows are of their piece's majority class."""
    return np.asarray(pieces.max(axis=-1).sum(axis=-1))


def information_gain(pieces: Ints) -> Floats:
    """Return the bits per row that pieces tell of the class."""
    rows = pieces.sum(axis=(-1, -2))
    whole = _bits(rows) - _bits(pieces.sum(axis=-2)).sum(axis=-1)
    parts = (_bits(pieces.sum(axis=-1)) - _bits(pieces).sum(axis=-1)).sum(axis=-1)
    gain = np.divide(whole - parts, rows, out=np.zeros(np.shape(rows)), where=rows > 0)
    return np.asarray(np.clip(gain, 0.0, math.log2(max(pieces.shape[-1], 2))))


def in_units(shares: Floats) -> Ints:
    """Return shares of 1 as whole numbers of the unit, from 0 to 2**20."""
    return np.asarray(np.floor(np.clip(shares, 0.0, 1.0) * 2**UNIT_BITS).astype(np.int64))


def _bits(counts: Ints) -> Floats:
    numbers = counts.astype(np.float64)
    return np.asarray(numbers * np.log2(np.maximum(numbers, 1.0)))

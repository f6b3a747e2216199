"""Numbers between two bounds as whole numbers of a step: sums of them can have whole-number noise, drawn exactly.

A row adds its number, clipped to the bounds and rounded to the step; how, depends on nothing but the row. So one row
changes the sum by at most the larger bound, whatever floating-point arithmetic does to the numbers. The step is chosen
by the bounds alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from incrowd.common.arrays import Counts, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.errors import QueryError

_STEPS = 10**8
"""A bound is at most so many steps: what rounding does to a row is far below what noise does to the sum."""


@dataclass(frozen=True)
class FixedPoint:
    """Two bounds and a step, all exact.

    >>> grid = FixedPoint.between((0, 120))
    >>> grid.step, grid.units(np.array([-3.0, 41.5, 200.0])).tolist()
    (Fraction(1, 100000), [0, 4150000, 12000000])
    """

    lower: Fraction
    upper: Fraction
    step: Fraction
    center: Fraction = Fraction(0)
    """What is taken off every number before it is added."""

    @classmethod
    def between(cls, bounds: Sequence[object], *, centered: bool = False) -> FixedPoint:
        """Return the grid of two bounds; `centered` takes their middle off, which halves what a row may change."""
        lower, upper = _read(bounds)
        center = (lower + upper) / 2 if centered else Fraction(0)
        largest = max(abs(lower - center), abs(upper - center))
        if not largest:
            return cls(lower, upper, Fraction(1), center)
        power = math.ceil(math.log10(largest.numerator) - math.log10(largest.denominator))
        return cls(lower, upper, Fraction(10) ** power / _STEPS, center)

    @property
    def sensitivity(self) -> int:
        """By how many steps one row changes a sum, at most; at least one, so that there is something to hide."""
        ends = (self.lower - self.center, self.upper - self.center)
        return max(1, *(math.ceil(abs(end) / self.step) for end in ends))

    def units(self, numbers: Floats) -> Ints:
        """Return each number, clipped and rounded, as so many steps from the center."""
        low, high = float(self.lower), float(self.upper)
        clipped = np.clip(np.nan_to_num(numbers, nan=low, posinf=high, neginf=low), low, high)
        steps = np.rint((clipped - float(self.center)) / float(self.step))
        most = self.sensitivity  # floating point may round a bound away from itself: never beyond what is promised
        return np.clip(steps, -most, most).astype(np.int64)

    def total(self, numbers: Floats, counts: Counts) -> int:
        """Return the sum over rows in steps, exactly."""
        return int(np.dot(self.units(numbers), counts))


def _read(bounds: Sequence[object]) -> tuple[Fraction, Fraction]:
    wrong = "bounds are two numbers, the smaller one first, such as (0, 100)."
    if isinstance(bounds, str) or not isinstance(bounds, Sequence) or len(bounds) != 2:
        raise QueryError(wrong)
    found = []
    for bound in bounds:
        if isinstance(bound, bool) or not isinstance(bound, (int, float, Fraction)) or not math.isfinite(bound):
            raise QueryError(wrong)
        found.append(Fraction(str(bound)) if isinstance(bound, float) else Fraction(bound))
    if found[0] > found[1]:
        raise QueryError(wrong)
    return found[0], found[1]

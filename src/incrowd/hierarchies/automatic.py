"""A hierarchy made from the data, where the user gives none; marked as such, for methods that must refuse it."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes
from incrowd.common.records import dataclass
from incrowd.hierarchies.dates import Dates
from incrowd.hierarchies.flat import Flat
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.intervals import Intervals
from incrowd.hierarchies.masking import Masking
from incrowd.hierarchies.tree import Tree
from incrowd.hierarchies.values import known_values, natural_kind

_FINEST_INTERVALS = 32
_LONGEST_CODE = 12
_DIGIT_CODE = r"^[0-9A-Z]*[0-9][0-9A-Z]*$"


@dataclass(frozen=True)
class Automatic(Hierarchy):
    """Numbers get round intervals, dates the calendar, codes of one length a mask, everything else `value → *`."""

    name: ClassVar[str] = "automatic"

    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        """Choose by looking at the values, and say so in the tree."""
        natural = natural_kind(values)
        proposed = _fitting(natural)
        if isinstance(proposed, Flat):  # what looks like what is found once
            return proposed.build_natural(column, natural)
        tree, codes = proposed.build(column, values)
        return replace(tree, from_data=True), codes


def propose(values: pl.Series) -> Hierarchy:
    """Return the hierarchy that fits the look of the values."""
    return _fitting(natural_kind(values))


def _fitting(natural: pl.Series) -> Hierarchy:
    if natural.dtype.is_numeric():
        return _intervals(natural)
    if natural.dtype.is_temporal():
        return Dates()
    known = known_values(natural)
    one_length = len(known) > 1 and 2 < len(known[0]) <= _LONGEST_CODE and known.str.len_chars().n_unique() == 1
    if one_length and known.str.contains(_DIGIT_CODE).all():
        return Masking()
    return Flat()


def _intervals(numbers: pl.Series) -> Hierarchy:
    points = known_values(numbers).cast(pl.Float64).to_numpy()
    points = points[np.isfinite(points)]
    if points.size < 2:
        return Flat()
    lowest, highest = float(points.min()), float(points.max())
    reach = highest - lowest
    # Values that only differ in their last digits, or that are near the ends of what floats can hold: no width is safe.
    if not max(1e-9 * max(-lowest, highest), 1e-300) < reach < 1e300:
        return Flat()
    if numbers.dtype.is_integer() and max(-lowest, highest) > 2**53:
        return Flat()
    width = _round_up(reach / _FINEST_INTERVALS)
    if numbers.dtype.is_integer():
        width = max(width, 1.0)
    widths = [width]
    while widths[-1] * 2 < reach:
        widths.append(widths[-1] * 2)
    if numbers.dtype.is_integer() and widths[0] == 1.0:
        widths = widths[1:] or [2.0]  # a width of 1 is the value itself
    return Intervals(widths=tuple(widths))


def _round_up(number: float) -> float:
    """Return the next of 1, 2, 5, 10, 20, 50, … (times a power of ten)."""
    power = 10.0 ** np.floor(np.log10(number))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= number * (1 - 1e-12)))

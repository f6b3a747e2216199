"""Numeric intervals: by widths that nest, or by cut points level by level, with open ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.errors import HierarchyError
from incrowd.hierarchies import labels
from incrowd.hierarchies.cuts import cut_texts
from incrowd.hierarchies.hierarchy import require_covered
from incrowd.hierarchies.tree import Codes, Tree, grow
from incrowd.hierarchies.values import as_numbers, code_values

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Intervals:
    """Numbers become ranges, wider at every level.

    Either `widths`, each a multiple of the one before and counted from `origin`, with everything below `lower` and from
    `upper` on taken together; or `cuts`, one tuple of cut points per level, each level keeping some of the cuts of the
    one before. Ranges include their lower bound and not their upper one.

    >>> tree, codes = Intervals(widths=(5, 10), upper=80).build("age", pl.Series([23, 25, 31, 84, 99]))
    >>> tree.names[1].to_list()
    [None, '[20, 25)', '[25, 30)', '[30, 35)', '>=80']
    """

    widths: tuple[float, ...] = ()
    cuts: tuple[tuple[float, ...], ...] = ()
    origin: float = 0.0
    lower: float | None = None
    upper: float | None = None
    name: ClassVar[str] = "intervals"

    def __post_init__(self) -> None:
        object.__setattr__(self, "widths", tuple(self.widths))
        object.__setattr__(self, "cuts", tuple(tuple(level) for level in self.cuts))
        if bool(self.widths) == bool(self.cuts):
            raise HierarchyError("intervals need either widths or cuts.")
        if self.cuts and (self.lower is not None or self.upper is not None):
            raise HierarchyError("intervals by cuts are open at both ends already: lower and upper do not apply.")
        _check_widths(self.widths)
        _check_cuts(self.cuts)
        if self.lower is not None and self.upper is not None and not self.lower < self.upper:
            raise HierarchyError(f"intervals: lower ({self.lower:g}) is not below upper ({self.upper:g}).")

    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        """Put every value into its interval at every level."""
        numbers = as_numbers(values)
        if numbers is None:
            parsed = values.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
            require_covered(column, values, values.is_not_null() & parsed.is_null())
            numbers = parsed
        distinct, codes = code_values(numbers)
        points = distinct.cast(pl.Float64).to_numpy()
        lowers = [self._lower_bounds(points, level) for level in range(len(self.widths or self.cuts))]
        ancestors = [self._names(bounds, level) for level, bounds in enumerate(lowers)]
        return (
            grow(column, distinct, "number", ancestors, from_data=False, edges=_edges(distinct, lowers)),
            codes,
        )

    def _lower_bounds(self, points: Numbers, level: int) -> Numbers:
        """Return the lower bound of each point's interval, -inf where it is open."""
        if self.cuts:
            bounds = np.r_[-np.inf, np.asarray(self.cuts[level], dtype=np.float64)]
            return np.asarray(bounds[np.searchsorted(bounds, points, side="right") - 1])
        width = self.widths[level]
        bounds = _tidy(np.floor(_tidy((points - self.origin) / width)) * width + self.origin)
        if self.lower is not None:
            bounds = np.where(points < self.lower, -np.inf, np.maximum(bounds, self.lower))
        if self.upper is not None:
            bounds = np.where(points >= self.upper, self.upper, bounds)
        return np.asarray(bounds)

    def _names(self, lower_bounds: Numbers, level: int) -> pl.Series:
        distinct, index = np.unique(lower_bounds, return_inverse=True)
        names = [self._name(float(bound), level) for bound in distinct]
        return pl.Series(names, dtype=pl.String).gather(index)

    def _name(self, low: float, level: int) -> str:
        if self.cuts:
            above = [cut for cut in self.cuts[level] if cut > low]
            high = above[0] if above else None
        elif low == -np.inf:
            high = self.lower
        elif self.upper is not None and low >= self.upper:
            high = None
        else:
            steps = float(np.floor(_tidy(np.asarray((low - self.origin) / self.widths[level])))) + 1
            high = float(_tidy(np.asarray(steps * self.widths[level] + self.origin)))
            high = high if self.upper is None else min(high, self.upper)
        return labels.write_range(
            None if low == -np.inf else number_text(low), None if high is None else number_text(high)
        )


def number_text(number: float) -> str:
    """Write a bound: 20 rather than 20.0, and no rounding noise.

    >>> number_text(20.0), number_text(0.1 + 0.2)
    ('20', '0.3')
    """
    return str(int(number)) if float(number).is_integer() else repr(round(float(number), 12))


def _tidy(values: Numbers) -> Numbers:
    """Take away the noise of binary fractions, so that 0.3 is in [0.3, 0.4)."""
    return np.round(values, 9)


def _edges(distinct: pl.Series, lowers: Sequence[Numbers]) -> list[str | None]:
    """Write the cut below each value: the widest interval's bound that lies there, else the roundest number."""
    edges = cut_texts(distinct)
    for bounds in lowers:  # wider levels come later and overwrite
        for code in np.flatnonzero(bounds[1:] != bounds[:-1]) + 1:
            edges[code] = number_text(float(bounds[code]))
    return edges


def _check_widths(widths: Sequence[float]) -> None:
    if any(width <= 0 for width in widths):
        raise HierarchyError("intervals: every width must be above 0.")
    for narrow, wide in pairwise(widths):
        ratio = wide / narrow
        if ratio <= 1 or abs(ratio - round(ratio)) > 1e-9:
            raise HierarchyError(
                f"intervals: width {wide:g} is not a multiple of {narrow:g}, so its intervals would not nest.  "
                f"Hint: try {narrow * max(2, round(ratio)):g}."
            )


def _check_cuts(levels: Sequence[Sequence[float]]) -> None:
    for number, level in enumerate(levels, start=1):
        if not level or any(a >= b for a, b in pairwise(level)):
            raise HierarchyError(f"intervals: the cuts of level {number} must be at least one, and ascending.")
    for number, (fine, coarse) in enumerate(pairwise(levels), start=2):
        stray = set(coarse) - set(fine)
        if stray:
            raise HierarchyError(
                f"intervals: level {number} cuts at {min(stray):g}, which level {number - 1} does not, "
                "so its intervals would not nest."
            )

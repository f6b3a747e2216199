"""Numeric intervals: by widths that nest, or by cut points level by level, with open ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import chain, pairwise
from numbers import Real
from typing import ClassVar

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes, Floats, pick
from incrowd.common.records import dataclass
from incrowd.errors import HierarchyError, SchemaError
from incrowd.hierarchies import labels
from incrowd.hierarchies.cuts import cut_texts
from incrowd.hierarchies.hierarchy import Hierarchy, require_covered
from incrowd.hierarchies.tree import Tree, grow
from incrowd.hierarchies.values import as_numbers, as_points, code_values

Bounds = tuple[Floats, Floats]

_INEXACT_FROM = 2.0**53
_MOST_VALUES = 100_000


@dataclass(frozen=True)
class Intervals(Hierarchy):
    """Numbers become ranges, wider at every level.

    Parameters
    ----------
    widths : the width of the ranges at each level; each is a multiple of the one before (default: none, give `cuts`).
    cuts : the cut points of each level; each level keeps some of the cuts of the one before (default: none, give
        `widths`).
    origin : where widths are counted from (default: 0).
    lower : everything below it is one range (default: None, no such range). Only with `widths`.
    upper : everything from it on is one range (default: None, no such range). Only with `widths`.

    You give either `widths` or `cuts`. Ranges include their lower bound and not their upper one. Methods under
    differential privacy need `lower` and `upper`, or `cuts`.

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
    declares_values: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "widths", tuple(self.widths))
        object.__setattr__(self, "cuts", tuple(tuple(level) for level in self.cuts))
        _check_numbers([*self.widths, *chain(*self.cuts), self.origin, self.lower, self.upper])
        if bool(self.widths) == bool(self.cuts):
            raise HierarchyError("intervals need either widths or cuts.")
        if self.cuts and (self.lower is not None or self.upper is not None):
            raise HierarchyError("intervals by cuts are open at both ends already: lower and upper do not apply.")
        _check_widths(self.widths)
        _check_cuts(self.cuts)
        if self.lower is not None and self.upper is not None and not self.lower < self.upper:
            raise HierarchyError(f"intervals: lower ({self.lower:g}) is not below upper ({self.upper:g}).")

    @classmethod
    def examples(cls) -> tuple[Intervals, ...]:
        """By widths, with and without bounds, and by cuts."""
        return (
            cls(widths=(5, 10)),
            cls(widths=(0.1, 0.3), origin=0.05),
            cls(widths=(10, 20), lower=0, upper=80),
            cls(cuts=((-10, 0, 0.5, 7, 40), (0, 7))),
        )

    def declared_values(self, column: str) -> pl.Series:
        """Return the numbers between the bounds, one by one where all bounds are whole, else the bounds."""
        if self.cuts:
            return _whole_or([float(cut) for cut in self.cuts[0]], open_below=True)
        if self.lower is None or self.upper is None:
            raise SchemaError(
                f"column '{column}': differential privacy needs to know where its numbers begin and end, without "
                "looking.  Hint: give its intervals a lower and an upper bound."
            )
        lower, upper, width, origin = (
            Fraction(str(number)) for number in (self.lower, self.upper, self.widths[0], self.origin)
        )
        first, last = (lower - origin) // width + 1, -((origin - upper) // width)
        if last - first > _MOST_VALUES:
            raise SchemaError(
                f"column '{column}': {last - first:,} intervals are too many.  Hint: make the finest ones wider."
            )
        inner = [origin + width * step for step in range(first, last)]
        return _whole_or([float(bound) for bound in (lower, *inner, upper)], open_below=False)

    def placed(self, values: pl.Series) -> pl.Series:
        """Take what is no number, or one that floats cannot tell from its neighbours, for missing."""
        if values.dtype.is_numeric():
            numbers = values
        else:
            numbers = values.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False).fill_nan(None)
        small_enough = numbers.cast(pl.Float64).abs() < _INEXACT_FROM * min(1.0, *self.widths[:1])
        return pl.select(pl.when(small_enough).then(numbers)).to_series()

    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        """Put every value into its interval at every level."""
        numbers = as_numbers(values)
        if numbers is None:
            parsed = values.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
            require_covered(column, values, values.is_not_null() & parsed.is_null())
            numbers = parsed
        distinct, codes = code_values(numbers)
        points = as_points(distinct)
        self._require_exact(column, points, whole=not distinct.dtype.is_float())
        bounds = self._bounds_by_cuts(points) if self.cuts else self._bounds_by_widths(points)
        ancestors = [_names(lows, highs) for lows, highs in bounds]
        edges = _edges(distinct, [lows for lows, _ in bounds])
        return grow(column, distinct, "number", ancestors, from_data=False, edges=edges), codes

    def _require_exact(self, column: str, points: Floats, *, whole: bool) -> None:
        """Refuse numbers that floats cannot tell from their neighbours: their intervals would be the wrong ones."""
        largest = float(np.max(np.abs(points[np.isfinite(points)]), initial=0.0))
        if (whole and largest >= _INEXACT_FROM) or (self.widths and largest / self.widths[0] >= _INEXACT_FROM):
            raise HierarchyError(
                f"column '{column}': its numbers are too large for intervals.  Hint: use masking, or a flat hierarchy."
            )

    def _bounds_by_cuts(self, points: Floats) -> list[Bounds]:
        """Return, level by level, the bounds of each point's interval, infinite where it is open."""
        found = []
        for level in self.cuts:
            cuts = np.array([-np.inf, *level, np.inf])
            place = np.searchsorted(cuts[:-1], points, side="right")
            found.append((cuts[place - 1], cuts[place]))
        return found

    def _bounds_by_widths(self, points: Floats) -> list[Bounds]:
        """Return, level by level, the bounds of each point's interval, infinite where it is open.

        Wider intervals are runs of the finest ones, so that they nest whatever floating point makes of the widths.
        """
        steps = np.floor((points - self.origin) / self.widths[0])
        # Division rounds, and puts 0.3 just below 3 × 0.1: the bound as it is written decides.
        steps -= points < self._bound(steps)
        steps += points >= self._bound(steps + 1)
        found = []
        for width in self.widths:
            ratio = round(width / self.widths[0])
            first = np.floor(steps / ratio) * ratio
            lows, highs = self._bound(first), self._bound(first + ratio)
            if self.lower is not None:
                below = points < self.lower
                lows = np.where(below, -np.inf, np.maximum(lows, self.lower))
                highs = np.where(below, self.lower, highs)
            if self.upper is not None:
                above = points >= self.upper
                lows = np.where(above, self.upper, lows)
                highs = np.where(above, np.inf, np.minimum(highs, self.upper))
            found.append((lows, highs))
        return found

    def _bound(self, steps: Floats) -> Floats:
        """Return where the finest interval of this number begins, without the noise of binary fractions."""
        exact = steps * self.widths[0] + self.origin
        whole = exact == np.floor(exact)
        if whole.all():
            return exact
        return np.where(whole, exact, pl.Series(exact).round_sig_figs(15).to_numpy())


def _names(lows: Floats, highs: Floats) -> pl.Series:
    """Write the interval of each point; points are sorted, so that equal intervals are neighbours."""
    opens = np.ones(len(lows), dtype=bool)
    opens[1:] = lows[1:] != lows[:-1]
    names = list(map(_name, lows[opens].tolist(), highs[opens].tolist()))
    return pick(pl.Series(names, dtype=pl.String), np.cumsum(opens) - 1)


def _name(low: float, high: float) -> str:
    if low == high:  # only infinity is in an interval of its own
        return number_text(low)
    return labels.write_range(
        None if low == -np.inf else number_text(low), None if high == np.inf else number_text(high)
    )


@lru_cache(4096)
def number_text(number: float) -> str:
    """Write a bound: 20 rather than 20.0.

    >>> number_text(20.0), number_text(0.3)
    ('20', '0.3')
    """
    return str(int(number)) if float(number).is_integer() else repr(float(number))


def _edges(distinct: pl.Series, lowers: Sequence[Floats]) -> list[str | None]:
    """Write the cut below each value: the widest interval's bound that lies there, else the roundest number."""
    edges: list[str | None] = cut_texts(distinct).to_list()
    chosen: dict[int, float] = {}
    for bounds in lowers:  # wider levels come later and overwrite
        places = np.flatnonzero(bounds[1:] != bounds[:-1]) + 1
        chosen.update(zip(places.tolist(), bounds[places].tolist(), strict=True))
    for code, bound in chosen.items():
        edges[code] = number_text(bound)
    return edges


def _check_numbers(given: Sequence[object]) -> None:
    for number in given:
        if number is not None and not (isinstance(number, Real) and math.isfinite(number)):
            raise HierarchyError(f"intervals: widths and cuts are numbers, not {number!r}.")


def _check_widths(widths: Sequence[float]) -> None:
    if any(width <= 0 for width in widths):
        raise HierarchyError("intervals: every width must be above 0.")
    for narrow, wide in pairwise(widths):
        ratio = wide / narrow
        if not math.isfinite(ratio):
            raise HierarchyError(f"intervals: width {wide:g} is too large beside {narrow:g}.")
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


def _whole_or(bounds: list[float], *, open_below: bool) -> pl.Series:
    """Return the whole numbers between bounds where these are whole, else the bounds; and one below, if asked."""
    if all(bound.is_integer() for bound in bounds) and bounds[-1] - bounds[0] <= _MOST_VALUES:
        return pl.Series(np.arange(int(bounds[0]) - open_below, int(bounds[-1]) + 1))
    step = min((high - low for low, high in pairwise(bounds)), default=1.0)
    return pl.Series(np.array([bounds[0] - step, *bounds] if open_below else bounds))

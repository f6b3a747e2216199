"""Dates: day → month → quarter → year → decade."""

from __future__ import annotations

from typing import ClassVar

import polars as pl

from incrowd.common.arrays import Codes
from incrowd.common.records import dataclass
from incrowd.errors import HierarchyError, did_you_mean
from incrowd.hierarchies.hierarchy import Hierarchy, require_covered
from incrowd.hierarchies.tree import Tree, grow
from incrowd.hierarchies.values import as_dates, code_values

UNITS = ("day", "month", "quarter", "year", "decade")


@dataclass(frozen=True)
class Dates(Hierarchy):
    """Dates or times become months, quarters, years, decades.

    Parameters
    ----------
    units : the units to use, finest first (default: "day", "month", "quarter", "year", "decade").

    >>> tree, codes = Dates(units=("month", "year")).build("born", pl.Series(["1987-11-03", "1988-02-14"]))
    >>> [level.to_list()[1:] for level in tree.names[1:]]
    [['1987-11', '1988-02'], ['1987', '1988'], []]
    """

    units: tuple[str, ...] = UNITS
    name: ClassVar[str] = "dates"
    of_dates: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "units", tuple(self.units))
        for unit in self.units:
            if unit not in UNITS:
                raise HierarchyError(f"dates: unknown unit '{unit}'.{did_you_mean(unit, UNITS)}")
        if not self.units:
            raise HierarchyError(f"dates: units are some of {', '.join(UNITS)}.  Hint: the flat hierarchy has none.")
        if list(self.units) != sorted(set(self.units), key=UNITS.index):
            raise HierarchyError(f"dates: units go from fine to coarse: {', '.join(UNITS)}.")

    def placed(self, values: pl.Series) -> pl.Series:
        """Take what is no date for missing."""
        if values.dtype.is_temporal():
            return values
        return values.cast(pl.String).str.strip_chars().str.strptime(pl.Date, "%Y-%m-%d", strict=False)

    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        """Put every date into its month, quarter, year and decade."""
        dates = as_dates(values)
        if dates is None:
            parsed = values.cast(pl.String).str.strptime(pl.Date, "%Y-%m-%d", strict=False)
            require_covered(column, values, values.is_not_null() & parsed.is_null())
            dates = parsed
        distinct, codes = code_values(dates)
        # The day of a plain date is the value itself, not a level above it.
        units = [unit for unit in self.units if unit != "day" or distinct.dtype != pl.Date]
        ancestors = [distinct.to_frame("d").select(_unit_name(unit)).to_series() for unit in units]
        return grow(column, distinct, "date", ancestors, from_data=False), codes


def _unit_name(unit: str) -> pl.Expr:
    date = pl.col("d")
    if unit == "decade":
        return (date.dt.year() // 10 * 10).cast(pl.String) + "s"
    if unit == "quarter":
        return date.dt.strftime("%Y") + "-Q" + date.dt.quarter().cast(pl.String)
    return date.dt.strftime({"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}[unit])

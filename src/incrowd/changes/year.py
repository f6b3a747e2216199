"""Year: all that is published of a date is its year, and of early ones only that they are early."""

from __future__ import annotations

from typing import ClassVar

import polars as pl

from incrowd.changes.change import Change, Column
from incrowd.common.parameters import require_whole
from incrowd.common.records import dataclass
from incrowd.errors import SchemaError

_FIRST, _LAST = 1000, 9999


@dataclass(frozen=True)
class Year(Change):
    """Publish the year of a date, and all early years as one.

    Parameters
    ----------
    not_before : the first year that is published by itself (default: none, all are). Earlier ones become one text such
        as `1936 or before`: a year of birth tells who is very old.

    Values are dates, times, or whole numbers of four digits, which are years already. Others are refused.

    >>> Year(not_before=1937).says()
    'published as the year, and years before 1937 as one'

    Reference: 45 CFR 164.514(b)(2)(i)(C).
    """

    not_before: int | None = None
    name: ClassVar[str] = "year"
    plain_name: ClassVar[str] = "years in place of dates"

    def __post_init__(self) -> None:
        if self.not_before is not None:
            require_whole(self.name, "not_before", self.not_before, at_least=_FIRST, at_most=_LAST)

    def recode(self, column: Column) -> pl.Series:
        """Take the year of each value."""
        years = self._years(column)
        if self.not_before is None:
            return years
        early = pl.lit(f"{self.not_before - 1} or before")
        shown = pl.when(pl.col("year") < self.not_before).then(early).otherwise(pl.col("year").cast(pl.String))
        return pl.DataFrame({"year": years}).select(shown.alias("")).to_series()

    def says(self) -> str:
        """Say which years are one."""
        early = "" if self.not_before is None else f", and years before {self.not_before} as one"
        return f"published as the year{early}"

    def _years(self, column: Column) -> pl.Series:
        kind = column.values.dtype
        if kind in (pl.Date, pl.Datetime):
            return column.values.dt.year().cast(pl.Int64)
        if kind.is_integer() and column.values.is_between(_FIRST, _LAST).all():
            return column.values.cast(pl.Int64)
        raise SchemaError(
            f"column '{column.name}': {self.name} is for dates and for years of four digits, and not all of its values "
            'are.  Hint: state how dates are written, such as written={"born": "dd.mm.yyyy"}, list texts that stand '
            "for a missing value with missing=, or drop the column."
        )

"""Dates of which only the month, the quarter, the year, … is published: the same for everybody, and without chance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import polars as pl

from incrowd.common.records import dataclass
from incrowd.dates.column import DateColumn
from incrowd.dates.treatment import DateTreatment, Whose, Window
from incrowd.dates.units import Unit, unit_names


@dataclass(frozen=True)
class TruncateDates(DateTreatment):
    """Of each date, only the month is published, or another part of the calendar.

    Parameters
    ----------
    to : "day" (without the time), "week", "month", "quarter", "year" or "decade" (default: "month"). They are written
        2024-03-05, 2024-W10, 2024-03, 2024-Q1, 2024 and 2020s.
    """

    to: Unit = "month"
    name: ClassVar[str] = "truncate"

    def treat(self, dates: DateColumn, others: Mapping[str, DateColumn], whose: Whose | None) -> pl.Series:
        """Name the part of the calendar that each date is in."""
        return dates.named(self.to)

    def still_tells(self) -> str:
        """Say how much is left."""
        return f"cut to the {self.to}, which is the true one"

    def published(self, values: pl.Series) -> tuple[pl.Series, pl.Series]:
        """Take names as they are."""
        text = values.cast(pl.String)
        return text, text.str.slice(0, 0)

    def possible(self, dates: DateColumn) -> Window:
        """Return the one name that a date has."""
        names = unit_names(dates.days, self.to)
        return Window(names, names, names.str.slice(0, 0))

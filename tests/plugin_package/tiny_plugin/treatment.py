"""Dates of which only the weekday is published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from incrowd.dates.column import DateColumn
from incrowd.dates.treatment import DateTreatment, Whose, Window


@dataclass(frozen=True)
class TinyTreatment(DateTreatment):
    """Publish the weekday of each date."""

    name: ClassVar[str] = "tiny-treatment"

    def treat(self, dates: DateColumn, others: Mapping[str, DateColumn], whose: Whose | None) -> pl.Series:
        """Name the weekday."""
        return dates.days.dt.to_string("%A")

    def still_tells(self) -> str:
        """Say what is left."""
        return "cut to the weekday"

    def published(self, values: pl.Series) -> tuple[pl.Series, pl.Series]:
        """Take weekdays as they are."""
        return values, values.str.slice(0, 0)

    def possible(self, dates: DateColumn) -> Window:
        """Return the one weekday that a date has."""
        names = dates.days.dt.to_string("%A")
        return Window(names, names, names.str.slice(0, 0))

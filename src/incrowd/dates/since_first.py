"""Dates as the time since a person's first event: when it was is not published, only how far events are apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import polars as pl

from incrowd.common.records import dataclass
from incrowd.dates.column import DateColumn
from incrowd.dates.treatment import DateTreatment, Whose, Window


@dataclass(frozen=True)
class DatesSinceFirst(DateTreatment):
    """Of each date, the whole days since the person's first one are published, or weeks, months or years.

    Parameters
    ----------
    unit : "days", "weeks", "months" or "years" (default: "days"), of which only full ones count. Days are those of the
        calendar: times of day make no difference.
    first_of : the column that has the first event, where it is another one. Events before it are negative, and people
        without a date there have none (default: the column itself).

    It needs `person`. The first event is that of all rows that the person has.
    """

    unit: Literal["days", "weeks", "months", "years"] = "days"
    first_of: str | None = None
    name: ClassVar[str] = "since-first"
    needs_person: ClassVar[bool] = True

    @property
    def keeps_intervals(self) -> bool:
        """It publishes nothing else."""
        return True

    @property
    def looks_at(self) -> tuple[str, ...]:
        """The column that has the first event."""
        return () if self.first_of is None else (self.first_of,)

    def treat(self, dates: DateColumn, others: Mapping[str, DateColumn], whose: Whose | None) -> pl.Series:
        """Count from the earliest date of each person."""
        assert whose is not None
        start = dates if self.first_of is None else others[self.first_of]
        rows = pl.DataFrame({"day": dates.days, "start": start.days, "person": whose.person_of})
        return rows.with_columns(pl.col("start").min().over("person")).select(_elapsed(self.unit)).to_series()

    def still_tells(self) -> str:
        """Say what can be recognized."""
        whole = f"given as {self.unit} since the person's first event"
        return f"{whole}: who knows when that was, or knows the intervals between events, knows all dates to the unit"

    def published(self, values: pl.Series) -> tuple[pl.Series, pl.Series]:
        """Tell no date at all."""
        nothing = values.cast(pl.String).str.slice(0, 0)
        return nothing, nothing

    def possible(self, dates: DateColumn) -> Window:
        """Return that any date is possible: nothing says when the first one was."""
        nothing = dates.days.dt.to_string("%Y").str.slice(0, 0)
        return Window(nothing, nothing, nothing)


def _elapsed(unit: str) -> pl.Expr:
    day, start = pl.col("day"), pl.col("start")
    if unit in ("days", "weeks"):
        days = (day - start).dt.total_days()
        return (days if unit == "days" else days.floordiv(7)).cast(pl.Int32)
    months = (day.dt.year() - start.dt.year()) * 12 + day.dt.month().cast(pl.Int32) - start.dt.month().cast(pl.Int32)
    full = months - (day.dt.day() < start.dt.day()).cast(pl.Int32)
    return (full if unit == "months" else full.floordiv(12)).cast(pl.Int32)

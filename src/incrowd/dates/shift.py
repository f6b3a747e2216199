"""Dates shifted by an amount of the person's own, as releases of clinical data do (MIMIC; Hripcsak et al. 2016).

The amount is drawn under the key of the pseudonyms, evenly among all whole days from -most_days to most_days, so that
nothing in the release replays it. Cost: one HMAC a person.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import polars as pl

from incrowd.common.parameters import require_whole
from incrowd.common.records import dataclass
from incrowd.dates.column import DateColumn
from incrowd.dates.treatment import DateTreatment, Whose, Window
from incrowd.dates.units import Unit, unit_names
from incrowd.errors import RecipeError
from incrowd.hierarchies.texts import AS_THEY_LOOK

_MOST_DAYS = 100_000


@dataclass(frozen=True)
class ShiftDates(DateTreatment):
    """All dates of a person move by the same secret number of days, so that intervals between them survive.

    Parameters
    ----------
    most_days : the largest shift, back or forth. A smaller one is as likely as this, none at all included.
    to : what is left of a date after that: its "day", "week", "month", "quarter", "year" or "decade" (default: all of
        it. Times of day then survive as they are, and tell events apart).
    apart : this column has a shift of its own (default: False, all columns of a person move alike, so that intervals
        between columns survive).

    It needs `person`, and the same person moves alike in every release that is made with the same key.
    """

    most_days: int
    to: Unit | None = None
    apart: bool = False
    name: ClassVar[str] = "shift"
    needs_person: ClassVar[bool] = True
    needs_key: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_whole(self.name, "most_days", self.most_days, at_least=1)
        if self.most_days > _MOST_DAYS:
            raise RecipeError(f"{self.name}: most_days is at most {_MOST_DAYS}.")

    @classmethod
    def examples(cls) -> tuple[ShiftDates, ...]:
        """Return one that moves dates by a month at most, and one that also hides the day."""
        return (cls(30), cls(400, to="month", apart=True))

    @property
    def keeps_intervals(self) -> bool:
        """Whether one true date gives the shift away."""
        return self.to in (None, "day")

    @property
    def reach(self) -> int:
        """The largest shift."""
        return self.most_days

    @property
    def shared_range(self) -> int | None:
        """All amounts that may be drawn."""
        return None if self.apart else 2 * self.most_days + 1

    def treat(self, dates: DateColumn, others: Mapping[str, DateColumn], whose: Whose | None) -> pl.Series:
        """Move each date by its person's amount."""
        assert whose is not None
        amounts = whose.draw(2 * self.most_days + 1, f"shift of {dates.name}" if self.apart else "shift")
        moved = dates.moved(pl.Series(amounts[whose.person_of] - self.most_days))
        return moved.values if self.to is None else moved.named(self.to)

    def still_tells(self) -> str:
        """Say that one date gives all away."""
        if not self.keeps_intervals:
            return f"shifted by at most {self.most_days} days and cut to the {self.to}"
        clock = "" if self.to else ", and times of day are as they were"
        return (
            f"shifted by at most {self.most_days} days, all of a person's alike{clock}: who finds a person by one true "
            "date, or by intervals between dates, knows all of their dates"
        )

    def published(self, values: pl.Series) -> tuple[pl.Series, pl.Series]:
        """Read days back, with their times of day; or what they were cut to."""
        if self.to not in (None, "day"):
            text = values.cast(pl.String)
            return text, text.str.slice(0, 0)
        read = DateColumn.read(values.name, values, AS_THEY_LOOK)
        days = unit_names(read.days, "day")
        return days, read.clock if self.to is None else days.str.slice(0, 0)

    def possible(self, dates: DateColumn) -> Window:
        """Return all days that a shift may lead to."""
        ends = [dates.moved(pl.Series([by] * len(dates.values))).days for by in (-self.most_days, self.most_days)]
        low, high = (unit_names(end, self.to or "day") for end in ends)
        return Window(low, high, dates.clock if self.to is None else low.str.slice(0, 0))

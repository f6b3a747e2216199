"""What a treatment of dates is: what becomes of a date before it is published."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Protocol

import polars as pl

from incrowd.common.arrays import Ints
from incrowd.common.records import dataclass
from incrowd.common.registry import Named
from incrowd.dates.column import DateColumn


@dataclass(frozen=True, eq=False)
class Whose:
    """Whose each row is: people are 0, 1, 2, …, and all rows of a person are among these rows."""

    person_of: Ints
    draw: Callable[[int, str], Ints]
    """Returns, for each person, a secret whole number below another, evenly: one for each purpose that is named."""


@dataclass(frozen=True, eq=False)
class Window:
    """What a reader who knows true dates looks for: published dates from `low` to `high` at a time of day."""

    low: pl.Series
    high: pl.Series
    clock: pl.Series


class DateTreatment(Named, Protocol):
    """What becomes of a column of dates. Implementations are frozen dataclasses that inherit from this, one file each.

    In recipes its name is the `kind` of a date. A missing date stays missing.
    """

    needs_person: ClassVar[bool] = False
    """Whether it must be known whose a row is."""
    needs_key: ClassVar[bool] = False
    """Whether it draws something for each person, under the key of the pseudonyms."""

    @property
    def keeps_intervals(self) -> bool:
        """Whether who knows one true date of a history, and finds it, knows all of its dates."""
        return False

    @property
    def reach(self) -> int:
        """By how many days it may move a date, at most."""
        return 0

    @property
    def shared_range(self) -> int | None:
        """Among how many amounts one is drawn that all columns of a person share; None where nothing is shared."""
        return None

    @property
    def looks_at(self) -> tuple[str, ...]:
        """Other columns of dates that it needs."""
        return ()

    def treat(self, dates: DateColumn, others: Mapping[str, DateColumn], whose: Whose | None) -> pl.Series:
        """Return what is published of each date."""
        ...

    def still_tells(self) -> str:
        """Return what was done to a date, and what it still tells: a clause for warnings."""
        ...

    def published(self, values: pl.Series) -> tuple[pl.Series, pl.Series]:
        """Return published dates as texts that sort as the calendar does, and their times of day as texts."""
        ...

    def possible(self, dates: DateColumn) -> Window:
        """Return which of these texts could be published of true dates, as far as a reader can tell."""
        ...

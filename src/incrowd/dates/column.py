"""A column of dates: days with or without a time of day, as dates, as times, or as ISO 8601 writes them in text.

Of a time with a zone, the day and the time of day are those that clocks in this zone show.
"""

from __future__ import annotations

from datetime import date, timedelta
from functools import cached_property
from typing import Literal

import polars as pl

from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.dates.units import Unit, unit_names
from incrowd.errors import SchemaError
from incrowd.hierarchies.texts import TextRules

_CLOCK = r"(?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:[.,]\d+)?)?"
_ISO = rf"^\d{{4}}-\d\d-\d\d(?:[T ]{_CLOCK}(?: ?(?:Z|[+-]\d\d(?::?\d\d)?))?)?$"
_FIRST, _LAST = date(1, 1, 1), date(9999, 12, 31)
_FIRST_NS, _LAST_NS = date(1677, 9, 23), date(2262, 4, 10)
_DAY = timedelta(days=1)
_MOST_OTHER_TEXTS = 1000
"""So many different texts that are no dates are looked at, to see whether all of them stand for missing."""


@dataclass(frozen=True, eq=False)
class DateColumn:
    """Dates of rows; `values` are as the table has them, and missing where there is none."""

    name: str
    values: pl.Series

    @classmethod
    def read(cls, name: str, values: pl.Series, texts: TextRules) -> DateColumn:
        """Take a column in; refuse one with anything that is neither a date nor missing."""
        if values.dtype == pl.String:
            values = _present(values, texts)
            if not values.drop_nulls().str.contains(_ISO).all():
                raise _no_dates(name)
        elif values.dtype not in (pl.Date, pl.Datetime):
            raise _no_dates(name)
        found = cls(name, values)
        if found.days.null_count() != values.null_count():
            raise _no_dates(name)
        return found

    @cached_property
    def days(self) -> pl.Series:
        """The day of each."""
        if self.values.dtype == pl.String:
            return self.values.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False)
        return self.values if self.values.dtype == pl.Date else self._local.dt.date()

    @cached_property
    def clock(self) -> pl.Series:
        """The time of day of each as a text, one text for one time; empty where there is only a day."""
        if self.values.dtype == pl.Date:
            return self.values.dt.to_string("%Y").str.slice(0, 0)
        if self.values.dtype == pl.String:
            text = self.values.str.slice(11).str.extract(rf"^({_CLOCK})").str.replace(",", ".", literal=True)
            text = pl.select(pl.when(self.values.is_not_null()).then(text.fill_null(""))).to_series()
        else:
            text = self._local.dt.to_string("%H:%M:%S%.f")
        text = text.str.replace(r"^(\d\d:\d\d)$", "${1}:00")
        return text.str.replace(r"(\.\d*?)0+$", "${1}").str.strip_suffix(".")

    def named(self, unit: Unit) -> pl.Series:
        """Return the part of the calendar that each is in: a day as a date, unless the column is text."""
        if unit == "day" and self.values.dtype != pl.String:
            return self.days
        return unit_names(self.days, unit)

    def moved(self, by: pl.Series) -> DateColumn:
        """Return the column with each date so many days later; times of day stay as they are."""
        values = self.values
        if values.dtype == pl.String:
            return DateColumn(self.name, _later(self.days, by).dt.to_string("%Y-%m-%d") + values.str.slice(10))
        if values.dtype == pl.Date:
            return DateColumn(self.name, _later(values, by))
        local = _later(self._local, by)
        zone = values.dtype.time_zone  # type: ignore[attr-defined]
        return DateColumn(self.name, local if zone is None else _in_zone(local, zone))

    @property
    def _local(self) -> pl.Series:
        return self.values.dt.replace_time_zone(None)


Fault = Literal["no dates", "too far"]
"""What may be wrong with a column: values that are no dates; dates that may not be moved as far as they might be."""


def require_dates(name: str, frame: pl.LazyFrame, texts: TextRules, *, reach: int) -> None:
    """Refuse a frame of one column, "c", that holds anything but dates, or dates that `reach` days may not be added to.

    One streamed scan; what is refused does not depend on anybody's own shift.
    """
    refuse(name, fault_of(frame, texts, reach=reach))


def fault_of(frame: pl.LazyFrame, texts: TextRules, *, reach: int) -> Fault | None:
    """Return what is wrong with the column "c" of a frame, if anything is: so much of it as these rows show."""
    dtype = frame.collect_schema()["c"]
    if dtype == pl.String:
        text = pl.col("c").str.strip_chars()
        days = text.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False)
        day: pl.Expr = pl.when(text.str.contains(_ISO)).then(days)
        others = frame.filter(day.is_null() & (text != "")).unique().head(_MOST_OTHER_TEXTS)
        if _present(others.collect(engine="streaming")["c"], texts).drop_nulls().len():
            return "no dates"
    elif dtype in (pl.Date, pl.Datetime):
        day = pl.col("c") if dtype == pl.Date else pl.col("c").dt.replace_time_zone(None).dt.date()
    else:
        return "no dates"
    in_nanoseconds = isinstance(dtype, pl.Datetime) and dtype.time_unit == "ns"
    first, last = (_FIRST_NS, _LAST_NS) if in_nanoseconds else (_FIRST, _LAST)
    room = timedelta(days=min(reach, (last - first).days // 2))
    far = frame.filter(day.is_not_null() & ~day.is_between(first + room, last - room)).head(1)
    return "too far" if far.collect(engine="streaming").height else None


def refuse(name: str, fault: Fault | None) -> None:
    """Refuse a column that anything is wrong with, in words that quote no value."""
    if fault == "no dates":
        raise _no_dates(name)
    if fault == "too far":
        raise SchemaError(
            f"column '{name}' has dates too near to the ends of the calendar to be treated. Such dates often stand for "
            "a missing one, and would give a shift away.  Hint: make them missing "
            f"({option('missing', ['…'], section='source')} where they are text)."
        )


def _present(values: pl.Series, texts: TextRules) -> pl.Series:
    """Return texts without spaces around them, and missing where they say so."""
    read = texts.read(values).str.strip_chars()
    return pl.select(pl.when(read != "").then(read).alias(values.name)).to_series()


def _later(values: pl.Series, by: pl.Series) -> pl.Series:
    moved = pl.DataFrame({"value": values, "by": by}).select(pl.col("value") + pl.duration(days="by"))
    return moved.to_series().cast(values.dtype)


def _in_zone(local: pl.Series, zone: str) -> pl.Series:
    """Return what clocks of a zone show as times there: the first one where clocks show it twice.

    Where clocks skip it, it is as much later as they skip.
    """
    found = local.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    if found.null_count() == local.null_count():
        return found
    before = (local - _DAY).dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null") + _DAY
    return pl.select(pl.coalesce(found, before)).to_series()


def _no_dates(name: str) -> SchemaError:
    return SchemaError(
        f"column '{name}' is to hold dates, and some of its values are none.  Hint: dates are written 2024-01-31 or "
        f"2024-01-31T12:30:00; other words for a missing one are listed: {option('missing', ['…'], section='source')}."
    )

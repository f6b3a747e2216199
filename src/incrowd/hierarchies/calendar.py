"""Parts of the calendar by their names, which also stand for days in ranges of dates.

1910   1910-04   1910-Q2   1910s     a year, a month, a quarter, a decade
[1910, 1920)   <1910-04              as the bound of a range: the day on which it begins
[1910, 1920]                         where the upper bound belongs to the range: all days of it
"""

from __future__ import annotations

import re
from datetime import date

import polars as pl

LAST_DAY = date.max.isoformat()
_YEAR = re.compile(r"^(\d{4})$")
_MONTH = re.compile(r"^(\d{4})-(\d{2})$")
_QUARTER = re.compile(r"^(\d{4})-Q([1-4])$")
_DECADE = re.compile(r"^(\d{4})s$")
_YEAR_BEGINS, _MONTH_BEGINS = r"^\d{4}-01-01$", r"^\d{4}-\d\d-01$"
_YEAR_LENGTH, _MONTH_LENGTH = len("1910"), len("1910-01")


def days_of(name: str) -> tuple[str, str | None] | None:
    """Return the first day of a part of the calendar, and the first one after it, which the last part has not.

    >>> days_of("1910"), days_of("1910-12"), days_of("1910-Q2"), days_of("1910s")
    (('1910-01-01', '1911-01-01'), ('1910-12-01', '1911-01-01'), ('1910-04-01', '1910-07-01'), ('1910-01-01', '1920-01-01'))
    >>> days_of("9999"), days_of("1910-01-01"), days_of("1910-13")
    (('9999-01-01', None), None, None)
    """  # noqa: E501
    if found := _MONTH.match(name):
        year, month, months = int(found[1]), int(found[2]), 1
    elif found := _QUARTER.match(name):
        year, month, months = int(found[1]), int(found[2]) * 3 - 2, 3
    elif found := _YEAR.match(name):
        year, month, months = int(found[1]), 1, 12
    elif found := _DECADE.match(name):
        year, month, months = int(found[1]), 1, 120
    else:
        return None
    if not (1 <= month <= 12 and year >= 1):
        return None
    after = year * 12 + month - 1 + months
    ends = after // 12 > date.max.year
    return date(year, month, 1).isoformat(), None if ends else date(after // 12, after % 12 + 1, 1).isoformat()


def first_day(text: str) -> str:
    """Return the day on which a part of the calendar begins; anything else as it is.

    >>> first_day("1910-04"), first_day("1910-04-17")
    ('1910-04-01', '1910-04-17')
    """
    days = days_of(text)
    return text if days is None else days[0]


def range_of_days(low: str | None, high: str | None, *, closed: bool) -> tuple[str | None, str | None, bool]:
    """Return a range of dates whose bounds are days or times, and whether its upper bound belongs to it.

    >>> range_of_days("1910", "1920-04", closed=False), range_of_days("1910", "1920", closed=True)
    (('1910-01-01', '1920-04-01', False), ('1910-01-01', '1921-01-01', False))
    """
    low = None if low is None else first_day(low)
    days = None if high is None else days_of(high)
    if days is None:
        return low, high, closed
    if not closed:
        return low, days[0], False
    return (low, LAST_DAY, True) if days[1] is None else (low, days[1], False)


def short_bounds(low: pl.Expr, high: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Write both bounds of a half-open range as years, or as months, where both of them begin one; null is open.

    >>> days = pl.DataFrame({"low": ["1910-01-01", "1910-01-01", None], "high": ["1920-01-01", "1910-04-01", "1911-02-03"]})
    >>> days.select(*short_bounds(pl.col("low"), pl.col("high"))).rows()
    [('1910', '1920'), ('1910-01', '1910-04'), (None, '1911-02-03')]
    """  # noqa: E501
    years, months = (
        pl.all_horizontal(bound.str.contains(begins).fill_null(value=True) for bound in (low, high))
        for begins in (_YEAR_BEGINS, _MONTH_BEGINS)
    )
    length = pl.when(years).then(_YEAR_LENGTH).when(months).then(_MONTH_LENGTH)
    return tuple(  # type: ignore[return-value]
        pl.when(length.is_null()).then(bound).otherwise(bound.str.head(length)) for bound in (low, high)
    )

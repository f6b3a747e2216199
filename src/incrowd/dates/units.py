"""Parts of the calendar, as published dates name them: 2024-03-05, 2024-W10, 2024-03, 2024-Q1, 2024, 2020s.

Names of one unit sort as the calendar does.
"""

from __future__ import annotations

from typing import Literal

import polars as pl

Unit = Literal["day", "week", "month", "quarter", "year", "decade"]
"""From fine to coarse; a week is ISO 8601's, which begins on Monday."""

_FORMS = {"day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m", "year": "%Y"}


def unit_names(days: pl.Series, unit: Unit) -> pl.Series:
    """Return the name of the unit that each day is in.

    >>> from datetime import date
    >>> [unit_names(pl.Series([date(2024, 12, 30)]), unit)[0] for unit in ("day", "week", "month", "quarter", "decade")]
    ['2024-12-30', '2025-W01', '2024-12', '2024-Q4', '2020s']
    """
    if unit == "quarter":
        return days.dt.to_string("%Y") + "-Q" + days.dt.quarter().cast(pl.String)
    if unit == "decade":
        return (days.dt.year() // 10 * 10).cast(pl.String).str.zfill(4) + "s"
    return days.dt.to_string(_FORMS[unit])

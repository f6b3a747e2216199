"""Columns as files of few types hold them: numbers as floats, dates and times of milliseconds, and texts.

What would change on the way is written as text instead, spelt as everywhere else.
"""

from __future__ import annotations

from datetime import date

import polars as pl

from incrowd.common.records import dataclass
from incrowd.errors import OutputError
from incrowd.hierarchies.values import as_text, short_times

_EXACT_BELOW = 2**53
"""Up to here, a float holds every whole number."""
_PER_MS = {"ms": 1, "us": 10**3, "ns": 10**6}


@dataclass(frozen=True)
class Held:
    """What a kind of file can hold."""

    noun: str
    """What messages call such files."""
    program: str
    """The program that they belong to."""
    first_date: date
    times: bool
    """Whether a time of the day is one."""
    booleans: bool
    """Whether true and false are values of their own."""
    longest_labelled: int = 0
    """How long the name of a column may be whose values have labels; 0 where none have."""

    def column(self, values: pl.Series) -> pl.Series:
        """Return a column as it can be written: Boolean, Int64, Float64, Date, Datetime, Time or String."""
        dtype = values.dtype
        if dtype.is_float():
            return self._floats(values.cast(pl.Float64))
        if dtype.is_integer():
            fits = bool((values.drop_nulls().cast(pl.Int128).abs() <= _EXACT_BELOW).all())
            return values.cast(pl.Int64) if fits else as_text(values)
        if dtype.is_decimal():
            floats = values.cast(pl.Float64)
            exact = bool((floats.cast(dtype, strict=False) == values).fill_null(value=True).all())
            return floats if exact else as_text(values)
        if dtype == pl.Boolean:
            return values if self.booleans else as_text(values)
        if dtype.is_temporal():
            return values if self._is_held(values) else times_as_text(values)
        return _texts(as_text(values), self.noun)

    def _floats(self, values: pl.Series) -> pl.Series:
        if values.is_infinite().any():
            raise OutputError(
                f"column '{values.name}' holds infinite numbers, which {self.noun} cannot hold.  "
                "Hint: choose another format, such as parquet."
            )
        return values.fill_nan(None)

    def _is_held(self, values: pl.Series) -> bool:
        """Whether dates or times are the same when they are read again."""
        if isinstance(values.dtype, pl.Date):
            known = values.drop_nulls()
            return bool((known >= self.first_date).all())
        if isinstance(values.dtype, pl.Time):
            return self.times and bool((values.to_physical().drop_nulls() % _PER_MS["ns"] == 0).all())
        if isinstance(values.dtype, pl.Datetime) and values.dtype.time_zone is None:
            whole = values.to_physical().drop_nulls() % _PER_MS[values.dtype.time_unit] == 0
            return bool(whole.all() and (values.drop_nulls().dt.date() >= self.first_date).all())
        return False


def times_as_text(values: pl.Series) -> pl.Series:
    """Write dates and times, which end with the last digit of their seconds that is not 0."""
    nameless = values.alias("")  # a name may look like a pattern of names
    text = short_times(as_text(nameless)) if values.dtype == pl.Datetime else as_text(nameless)
    return text.alias(values.name)


def _texts(values: pl.Series, noun: str) -> pl.Series:
    if values.str.contains("\0", literal=True).any():
        raise OutputError(f"column '{values.name}' holds a text with a zero byte, which {noun} cannot hold.")
    return values

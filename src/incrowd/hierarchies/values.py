"""What a column's values are: numbers, dates or names. Decided on the distinct values, never row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from incrowd.common.arrays import Codes

_ISO_DATE = r"^\d{4}-\d{2}-\d{2}"
_LEADING_ZERO = r"^\s*[+-]?0\d"
_TOO_LONG_FOR_A_FLOAT = r"^\s*[+-]?\d{16}"


def as_numbers(values: pl.Series) -> pl.Series | None:
    """Return the values as integers or floats, missing as null; None unless every value is a number."""
    dtype = values.dtype
    if dtype.is_integer():
        return values
    if dtype.is_float():
        return values.fill_nan(None)
    if dtype.is_decimal():
        return values.cast(pl.Float64)
    if dtype != pl.String:
        return None
    text = values.str.strip_chars()
    for target in (pl.Int64, pl.Float64):
        numbers = text.cast(target, strict=False)
        if numbers.null_count() == values.null_count():
            return numbers.fill_nan(None) if target == pl.Float64 else numbers
    return None


def as_dates(values: pl.Series) -> pl.Series | None:
    """Return the values as dates or times; None unless every value is one (ISO form where it is text)."""
    if values.dtype in (pl.Date, pl.Datetime):
        return values
    if values.dtype != pl.String or not values.str.contains(_ISO_DATE).all():  # 01/02/1999 may be January or February
        return None
    for target, form in ((pl.Date, "%Y-%m-%d"), (pl.Datetime("us"), None)):
        try:
            dates = values.str.strptime(target, form, strict=False)
        except pl.exceptions.ComputeError:  # no form fits any of the values
            continue
        if dates.null_count() == values.null_count():
            return dates
    return None


def as_text(values: pl.Series) -> pl.Series:
    """Return the values as text, the way hierarchies spell them: 3.0 is `3`, a date is ISO."""
    if values.dtype.is_float():
        whole = values.is_finite() & (values == values.floor())
        text = values.cast(pl.String)
        return pl.select(pl.when(whole).then(text.str.strip_suffix(".0")).otherwise(text)).to_series()
    return values.dt.to_string("iso") if values.dtype == pl.Duration else values.cast(pl.String)


def natural_kind(values: pl.Series) -> pl.Series:
    """Return the values as what they look like: numbers, dates, or text.

    A code such as `01234` looks like a number, but its zeros mean something: it stays text. So do numbers with more
    digits than can be told apart.
    """
    if values.dtype == pl.String:
        if values.null_count() == len(values) or values.str.contains(_LEADING_ZERO).any():
            return values
        numbers = as_numbers(values)
        if numbers is not None and (not numbers.dtype.is_float() or _exact(values, numbers)):
            return numbers
        dates = as_dates(values)
        return values if dates is None else dates
    for parse in (as_numbers, as_dates):
        parsed = parse(values)
        if parsed is not None:
            return parsed
    return as_text(values)


def _exact(text: pl.Series, floats: pl.Series) -> bool:
    return bool(floats.is_finite().all()) and not text.str.contains(_TOO_LONG_FOR_A_FLOAT).any()


def code_values(values: pl.Series) -> tuple[pl.Series, Codes]:
    """Return the sorted distinct values without missing, and each value's code among them; missing is 0."""
    distinct = values.drop_nulls().unique().sort()
    physical = values.to_physical()
    if not physical.dtype.is_numeric() or physical.dtype.is_decimal() or physical.dtype == pl.Int128:
        return distinct, code_among(values, distinct)
    place = np.searchsorted(distinct.to_physical().to_numpy(), physical.fill_null(0).to_numpy())
    return distinct, np.where(values.is_null().to_numpy(), 0, place + 1).astype(np.int32)


def code_among(values: pl.Series, distinct: pl.Series) -> Codes:
    """Return each value's place, from 1, in `distinct`; 0 where it is missing and -1 where it is not there."""
    key = pl.DataFrame({"value": distinct, "code": np.arange(1, len(distinct) + 1, dtype=np.int32)})
    found = pl.DataFrame({"value": values}).join(key, on="value", how="left", maintain_order="left")
    missing = values.is_null().to_numpy()
    return np.where(missing, 0, found["code"].fill_null(-1).to_numpy()).astype(np.int32)

"""Where to cut between two neighbouring values, so that the cut is short to read and shows nobody's own value.

Between 36.2 and 41.7 lies 40; between 1987-11-03 and 1988-02-14 lies 1988-01-01. The cut `c` between neighbours `a < b`
satisfies `a < c <= b`: everything below `c` is on the left, `c` and above on the right. Only when nothing rounder fits
is it `b` itself.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.hierarchies.values import as_bounds, as_text

_DATE_STEPS = ("10y", "1y", "1q", "1mo")
_TIME_STEPS = (*_DATE_STEPS, "1d", "1h", "1m", "1s")
_MOST_DECIMALS = 12


def cut_texts(values: pl.Series) -> pl.Series:
    """Return the cut below each of the sorted distinct values, as text; None below the first (and below a null)."""
    return as_bounds(cuts_below(values))


def cuts_below(values: pl.Series) -> pl.Series:
    """Return the roundest cut between each value and the one before it; null where there is none before it."""
    nothing = pl.Series([None], dtype=values.dtype)
    lower = pl.concat([nothing, values.head(-1).alias("")], rechunk=True).head(len(values))  # `shift` takes a plan
    if values.dtype.is_temporal():
        return _round_dates(lower, values)
    if values.dtype.is_integer():
        if values.cast(pl.Int64, strict=False).null_count() > values.null_count():
            return pl.select(pl.when(lower.is_not_null()).then(values)).to_series()  # too large to round
        return _round_integers(lower, values)
    rounded = _round_floats(lower.cast(pl.Float64), values.cast(pl.Float64))
    return _exact_decimals(rounded, lower, values) if values.dtype.is_decimal() else rounded


def _round_dates(lower: pl.Series, upper: pl.Series) -> pl.Series:
    steps = _TIME_STEPS if upper.dtype == pl.Datetime else _DATE_STEPS
    candidates = [pl.col("upper").dt.truncate(step) for step in steps]
    inside = [pl.when(candidate > pl.col("lower")).then(candidate) for candidate in candidates]
    chosen = pl.coalesce(*inside, pl.when(pl.col("lower").is_not_null()).then(pl.col("upper")))
    return pl.DataFrame({"lower": lower, "upper": upper}).select(chosen.alias(upper.name)).to_series()


def _round_integers(lower: pl.Series, upper: pl.Series) -> pl.Series:
    high = (upper.fill_null(0) if upper.null_count() else upper).cast(pl.Int64).to_numpy()
    low = np.append(0, high[:-1])[: len(high)]
    cut = high.copy()
    settled = np.zeros(len(cut), dtype=bool)
    # Of multiples of more than the largest number, 0 alone lies between two numbers: one such power finds it.
    largest = max(abs(int(end)) for end in (np.min(low, initial=0), np.min(high, initial=0), np.max(high, initial=0)))
    for power in range(min(len(str(largest)), 18), 0, -1):
        step = 10**power
        for multiple in (step, step // 2):
            candidate = (high // multiple) * multiple
            fits = ~settled & (candidate > low) & (candidate <= high)
            cut[fits] = candidate[fits]
            settled |= fits
    return _blank_where_null(pl.Series(cut), lower, upper)


def _round_floats(lower: pl.Series, upper: pl.Series) -> pl.Series:
    low, high = lower.fill_null(0.0).to_numpy(), upper.fill_null(0.0).to_numpy()
    cut = high.copy()
    settled = ~(np.isfinite(low) & np.isfinite(high))
    largest = np.max(np.abs(high[~settled]), initial=1.0)
    for power in range(min(int(np.ceil(np.log10(largest))) + 1, 308), -_MOST_DECIMALS - 1, -1):
        candidate = _floor_to(high, power)
        fits = ~settled & (candidate > low) & (candidate <= high)
        cut[fits] = candidate[fits]
        settled |= fits
    return _blank_where_null(pl.Series(cut), lower, upper)


def _exact_decimals(rounded: pl.Series, lower: pl.Series, upper: pl.Series) -> pl.Series:
    """Return round cuts as decimals, and the upper neighbour where floats cannot tell it from the lower one."""
    cut = as_text(rounded).cast(upper.dtype, strict=False)
    fits = (cut > lower) & (cut <= upper)
    known = lower.is_not_null() & upper.is_not_null()
    return pl.select(
        pl.when(known & fits.fill_null(value=False)).then(cut).when(known).then(upper).alias(upper.name)
    ).to_series()


def _floor_to(values: NDArray[np.float64], power: int) -> NDArray[np.float64]:
    """Round down to a multiple of 10**power; dividing by an exact power of ten keeps 0.3 from getting a tail."""
    with np.errstate(over="ignore", invalid="ignore"):
        if power >= 0:
            return np.floor(values / 10.0**power) * 10.0**power
        return np.floor(values * 10.0**-power) / 10.0**-power


def _blank_where_null(cut: pl.Series, lower: pl.Series, upper: pl.Series) -> pl.Series:
    if lower.null_count() == 1 and not upper.null_count():  # below the first value, and nowhere else
        return cut.clone().scatter(0, None).alias(upper.name)
    known = lower.is_not_null() & upper.is_not_null()
    return pl.select(pl.when(known).then(cut).alias(upper.name)).to_series()

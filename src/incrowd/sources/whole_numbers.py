"""Files that know no whole numbers: a column of nothing else is one."""

from __future__ import annotations

import polars as pl

_EXACT_BELOW = 2**53
"""Up to here, a float holds every whole number."""


def as_whole(values: pl.Series) -> pl.Series:
    """Return floats as whole numbers where all of them are.

    >>> as_whole(pl.Series([34.0, None])).to_list(), as_whole(pl.Series([34.5, 2.0])).to_list()
    ([34, None], [34.5, 2.0])
    """
    if not values.dtype.is_float():
        return values
    known = values.drop_nulls()
    whole = len(known) > 0 and bool(
        (known.is_finite() & (known == known.floor()) & (known.abs() <= _EXACT_BELOW)).all()
    )
    return values.cast(pl.Int64) if whole else values

"""Counting questions: how many rows have this and this and this."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.errors import QueryError, did_you_mean
from incrowd.hierarchies.tree import Tree
from incrowd.hierarchies.values import as_bound, as_dates, as_numbers, as_text, natural_kind, spelled

Condition = object
"""A value; a list or set of values; or a tuple `(low, high)`, both included, None for an open end."""

Query = Mapping[str, Condition]

_MOST_QUICK = 2**53
_LEAST_PLAIN, _MOST_PLAIN = 1e-3, 1e15
"""Between these, floats are written without an exponent, whoever writes them."""
_FIRST_DAY = date(1970, 1, 1)


def matching_codes(
    column: str,
    tree: Tree,
    condition: Condition,
    *,
    unknown_names: Literal["refused", "suggested", "nobody"] = "refused",
) -> NDArray[np.bool_]:
    """Return which codes of a column satisfy a condition.

    A name that the column does not have is refused; the nearest ones are suggested only where all names are public.
    """
    if isinstance(condition, tuple):
        return _in_range(column, tree, condition)
    wanted = listed(condition)
    try:
        texts = {None if value is None else spelled_alone(value) for value in wanted}
    except (pl.exceptions.PolarsError, TypeError):
        raise QueryError(f"column '{column}': a condition is a value, a list of values, or a pair of bounds.") from None
    names = tree.spellings
    lacking = sorted(text for text in texts - set(names) if text is not None)
    if lacking and unknown_names != "nobody" and not tree.ordered and natural_kind(tree.values).dtype == pl.String:
        nearest = did_you_mean(lacking[0], [name for name in names if name]) if unknown_names == "suggested" else ""
        raise QueryError(f"column '{column}' has no value '{lacking[0]}'.{nearest}")
    return np.fromiter((name in texts for name in names), dtype=bool, count=len(names))


def listed(condition: Condition) -> list[object]:
    """Return the values of a condition that is no range: one of them, or several."""
    if isinstance(condition, Iterable) and not isinstance(condition, (str, bytes)):
        return list(condition)
    return [condition]


def spelled_alone(value: object) -> str:
    """Write one value as `spelled` writes many: without a series for the kinds that questions are mostly about."""
    if type(value) is str:
        return value
    if type(value) is int and abs(value) < _MOST_QUICK:
        return str(value)
    if type(value) is float and _LEAST_PLAIN <= abs(value) < _MOST_PLAIN:
        return str(int(value) if value.is_integer() else value)
    return value.isoformat() if type(value) is date else str(spelled(pl.Series([value]))[0])


def _in_range(column: str, tree: Tree, bounds: tuple[object, ...]) -> NDArray[np.bool_]:
    if len(bounds) != 2:
        raise QueryError(f"column '{column}': a range is a pair (low, high); None leaves an end open.")
    values = tree.values if tree.ordered else natural_kind(tree.values)
    if values.dtype == pl.String:
        raise QueryError(
            f"column '{column}' holds names: a range has no meaning there.  Hint: ask with a list of values."
        )
    low, high = bounds
    if values is tree.values and tree.numbers is not None:
        least, most = (_quick_bound(bound, values.dtype) for bound in bounds)
        if least is not None and most is not None:
            return (tree.numbers >= least) & (tree.numbers <= most) & tree.known
    matches = values.is_not_null()
    try:
        if low is not None:
            matches &= values >= _bound(low, values.dtype)
        if high is not None:
            matches &= values <= _bound(high, values.dtype)
    except (pl.exceptions.PolarsError, TypeError):
        kind = "date" if values.dtype.is_temporal() else "number"
        raise QueryError(f"column '{column}': the bounds are not of the column's kind ({kind}).") from None
    return matches.fill_null(value=False).to_numpy()


def _quick_bound(bound: object, dtype: pl.DataType) -> float | None:
    """Return a bound as a number that a column's numbers can be compared with, if it is of the very same kind.

    None: `_bound` has to look closer.
    """
    if dtype.is_integer() and type(bound) is int and abs(bound) < _MOST_QUICK:
        return bound
    if dtype == pl.Float64 and type(bound) is float and math.isfinite(bound):
        return bound
    return (bound - _FIRST_DAY).days if dtype == pl.Date and type(bound) is date else None


def _bound(bound: object, dtype: pl.DataType) -> pl.Series:
    """Return a bound as something that the column can be compared with; whole numbers stay exact."""
    given = pl.Series([bound])
    parsed = as_dates(given) if dtype.is_temporal() else as_numbers(given)
    if parsed is not None and not dtype.is_temporal() and not parsed.null_count():
        parsed = as_bound(str(as_text(given)[0]), dtype)
    if parsed is None:
        raise TypeError
    return parsed.cast(dtype) if dtype.is_temporal() else parsed

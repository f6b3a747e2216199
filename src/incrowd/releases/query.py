"""Counting questions: how many rows have this and this and this."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.errors import QueryError
from incrowd.hierarchies.tree import Tree
from incrowd.hierarchies.values import as_text

Condition = object
"""A value; a list or set of values; or a tuple `(low, high)`, both included, None for an open end."""

Query = Mapping[str, Condition]


def matching_codes(column: str, tree: Tree, condition: Condition) -> NDArray[np.bool_]:
    """Return which codes of a column satisfy a condition."""
    if isinstance(condition, tuple):
        return _in_range(column, tree, condition)
    wanted = [condition]
    if isinstance(condition, Iterable) and not isinstance(condition, (str, bytes)):
        wanted = list(condition)
    spelled = {None if value is None else as_text(pl.Series([value]))[0] for value in wanted}
    names = as_text(tree.values).to_list()
    return np.fromiter((name in spelled for name in names), dtype=bool, count=len(names))


def _in_range(column: str, tree: Tree, bounds: tuple[object, ...]) -> NDArray[np.bool_]:
    if len(bounds) != 2:
        raise QueryError(f"column '{column}': a range is a pair (low, high); None leaves an end open.")
    values = tree.values
    if not tree.ordered:
        numbers = values.cast(pl.Float64, strict=False)
        if numbers.null_count() != values.null_count():
            raise QueryError(
                f"column '{column}' holds names: a range has no meaning there.  Hint: ask with a list of values."
            )
        values = numbers
    matches = values.is_not_null()
    low, high = bounds
    try:
        if low is not None:
            matches &= values >= pl.Series([low]).cast(values.dtype if values.dtype.is_temporal() else pl.Float64)[0]
        if high is not None:
            matches &= values <= pl.Series([high]).cast(values.dtype if values.dtype.is_temporal() else pl.Float64)[0]
    except (pl.exceptions.PolarsError, TypeError) as error:
        raise QueryError(f"column '{column}': the bounds are not of the column's kind ({tree.kind}).") from error
    return matches.fill_null(value=False).to_numpy()

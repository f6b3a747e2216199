"""pandas, column by column. The index is no column and no row number: nothing here looks at it.

pandas lets a column hold anything. One whose values are of several types becomes text; so does a categorical, whatever
its categories are.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from incrowd.errors import SourceError
from incrowd.hierarchies.values import as_text
from incrowd.sources.normalize import refuse_duplicates

if TYPE_CHECKING:
    import pandas as pd

_WHERE = "the pandas frame"
_EXACT_BELOW = 2**53
"""Up to here, a float holds every whole number."""
_LISTS = (list, tuple, set, frozenset, np.ndarray)
_NESTED = (list, tuple, dict, set, frozenset, bytes, bytearray)


def from_pandas(frame: pd.DataFrame, lists: Sequence[str] | None = ()) -> pl.DataFrame:
    """Return a copy in Polars; of the columns in `lists`, or of any if that is None, cells may be lists."""
    names = _names(frame)
    columns = []
    for at, name in enumerate(names):
        values = frame.iloc[:, at]
        of_lists = (lists is None or name in lists) and values.dtype == object and _holds_lists(values)
        columns.append(_lists(values, name) if of_lists else _readable(values, name))
    return pl.DataFrame(columns)


def _holds_lists(values: pd.Series[Any]) -> bool:
    """Whether some cells are lists, and all others are missing."""
    missing = [cell is None or (isinstance(cell, float) and np.isnan(cell)) for cell in values.tolist()]
    listed = [isinstance(cell, _LISTS) for cell in values.tolist()]
    return any(listed) and all(one or other for one, other in zip(missing, listed, strict=True))


def _lists(values: pd.Series[Any], name: str) -> pl.Series:
    """Return lists of texts."""
    cells = [
        None if not isinstance(cell, _LISTS) else
        [None if item is None else str(_python(item)) for item in cell]
        for cell in values.tolist()
    ]  # fmt: skip
    try:
        return pl.Series(name, cells, dtype=pl.List(pl.String))
    except UnicodeEncodeError:
        raise SourceError(f"{_WHERE}: column '{name}' holds text with half a character (a lone surrogate).") from None


def _names(frame: pd.DataFrame) -> list[str]:
    labels: list[object] = list(frame.columns)
    for label in labels:
        if isinstance(label, tuple):
            raise SourceError(f"{_WHERE}: its columns have names of several levels.  Hint: join the levels into one.")
        if not isinstance(label, (str, int)):
            raise SourceError(f"{_WHERE}: a column's name is a {type(label).__name__}.  Hint: name columns with text.")
    names = [str(label) for label in labels]
    refuse_duplicates(names, _WHERE)
    if any(_is_broken(name) for name in names):
        raise SourceError(f"{_WHERE}: a column's name holds half a character (a lone surrogate).  Hint: rename it.")
    return names


def _is_broken(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def _readable(values: pd.Series[Any], name: str) -> pl.Series:
    try:
        return _series(values, name)
    except UnicodeEncodeError:  # whose message quotes the value
        raise SourceError(
            f"{_WHERE}: column '{name}' holds text with half a character (a lone surrogate), which is no text that can "
            "be written.  Hint: it was decoded wrongly; read the data again with its own encoding."
        ) from None


def _series(values: pd.Series[Any], name: str) -> pl.Series:
    kind = type(values.dtype).__name__
    if kind == "CategoricalDtype":
        return _categorical(values, name)
    if kind in ("PeriodDtype", "IntervalDtype"):
        return _as_text(values, name)
    if kind == "SparseDtype":
        return pl.Series(name, values.to_numpy())
    if values.dtype == object:
        return _objects(values, name)
    try:
        # A copy: Polars would share pandas' memory, and see what the caller changes later.
        return pl.Series(name, pl.from_pandas(values.copy()))
    except UnicodeEncodeError:
        raise
    except (pl.exceptions.PolarsError, TypeError, ValueError, NotImplementedError):
        raise SourceError(
            f"{_WHERE}: column '{name}' is of the type {values.dtype}, which cannot be read.  "
            "Hint: drop it, or turn it into text or numbers."
        ) from None


def _categorical(values: pd.Series[Any], name: str) -> pl.Series:
    # Spelt as the same values are in a column of their own: 5 rather than 5.0.
    labels = as_text(_series(values.cat.categories.to_series(), name))
    codes = pl.Series(values.cat.codes.to_numpy().astype("int64"))
    return labels.gather(codes.replace(-1, None))


def _objects(values: pd.Series[Any], name: str) -> pl.Series:
    given: list[object] = values.tolist()
    if any(isinstance(value, Decimal) for value in given):
        given = _finite_decimals(given, name)
        values = type(values)(given, dtype=object)
    missing = values.isna().to_numpy()
    objects = [None if absent else _python(value) for value, absent in zip(given, missing, strict=True)]
    kinds = {type(value) for value in objects if value is not None}
    nested = [kind.__name__ for kind in kinds if _is_nested(kind)]
    if nested:
        raise SourceError(
            f"{_WHERE}: column '{name}' holds values that are not plain ({', '.join(sorted(nested))}).  "
            "Hint: drop or flatten it."
        )
    if kinds == {int, float} and all(abs(value) <= _EXACT_BELOW for value in objects if type(value) is int):
        return pl.Series(name, objects, dtype=pl.Float64, strict=False)
    if len(kinds) > 1:
        return _text(objects, name)
    try:
        return pl.Series(name, objects, strict=True)
    except UnicodeEncodeError:
        raise
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError, RuntimeError):
        return _text(objects, name)  # also decimals of more digits than Polars has


def _finite_decimals(objects: Sequence[object], name: str) -> list[object]:
    """Return decimals with those that are no number as missing; refuse infinite ones, which no column can hold."""
    kept = [None if isinstance(value, Decimal) and value.is_nan() else value for value in objects]
    if any(isinstance(value, Decimal) and not value.is_finite() for value in kept):
        raise SourceError(
            f"{_WHERE}: column '{name}' holds infinite decimals.  Hint: replace them, or turn the column into floats."
        )
    return kept


def _python(value: object) -> object:
    """Return NumPy's numbers as Python's, so that 1 and 1 are of one type."""
    return value.item() if isinstance(value, (np.number, np.bool_, np.str_)) else value


def _is_nested(kind: type) -> bool:
    return issubclass(kind, _NESTED) or (hasattr(kind, "__array__") and not issubclass(kind, np.generic))


def _as_text(values: pd.Series[Any], name: str) -> pl.Series:
    return _text([None if absent else v for v, absent in zip(values, values.isna(), strict=True)], name)


def _text(objects: Sequence[object], name: str) -> pl.Series:
    return pl.Series(name, [None if value is None else str(value) for value in objects], dtype=pl.String)

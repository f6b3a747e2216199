"""Arrow's types that Polars has no plain type for, made plain: UUIDs, and texts that carry a database's type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from incrowd.errors import SourceError
from incrowd.sources.normalize import MOST_DIGITS, refuse_duplicates

if TYPE_CHECKING:
    import pyarrow as pa

_UUID = "arrow.uuid"
_UUID_PARTS = ((0, 8), (8, 4), (12, 4), (16, 4), (20, 12))


def from_arrow(table: pa.Table, *, where: str, hint: str) -> pl.DataFrame:
    """Return the table in Polars; `hint` says what to do about a column that has no place there."""
    refuse_duplicates(table.column_names, where)
    columns = []
    for field, values in zip(table.schema, table.columns, strict=True):
        try:
            columns.append(_series(field, values).alias(field.name))
        except (pl.exceptions.PolarsError, NotImplementedError, ValueError):
            raise SourceError(
                f"{where}: column '{field.name}' is of the type {field.type}, which cannot be read.  Hint: {hint}"
            ) from None
        if columns[-1].null_count() != values.null_count:
            raise SourceError(
                f"{where}: column '{field.name}' holds a value that would become missing, such as the time 24:00.  "
                f"Hint: {hint}"
            )
    return pl.DataFrame(columns)


def _series(field: pa.Field[Any], values: pa.ChunkedArray[Any]) -> pl.Series:
    if getattr(field.type, "precision", 0) > MOST_DIGITS:
        raise ValueError  # Polars would not raise: it panics
    kind = getattr(field.type, "extension_name", None)
    if kind is not None:
        values = values.cast(field.type.storage_type)
    series = pl.Series(values)
    return _uuid_text(series) if kind == _UUID else series


def _uuid_text(values: pl.Series) -> pl.Series:
    digits = values.bin.encode("hex")
    parts = [pl.lit(digits).str.slice(start, length) for start, length in _UUID_PARTS]
    return pl.select(pl.concat_str(parts, separator="-")).to_series()

"""Columns as numbers, as scikit-learn takes them: the same for the rows of a release and for any other table.

Numbers stay numbers, dates become days since 1970, and names columns of zeros and ones, one for each frequent name. A
missing number is the mean, beside a column that tells that it was missing. Cost: one pass over each column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from incrowd.errors import QueryError

MOST_NAMES = 50
"""So many names of a column have a column of their own, the most frequent ones; all others have none."""


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers or dates, and what stands for a missing one."""

    mean: float
    missing: bool
    """Whether some are missing, so that a column tells it."""

    def encoded(self, values: pl.Series) -> list[pl.Series]:
        """Return the numbers, and where they are missing."""
        points = as_points(values)
        numbers = [points.fill_null(self.mean)]
        if self.missing:
            numbers.append(points.is_null().cast(pl.Int8).alias(f"{values.name} is missing"))
        return numbers


@dataclass(frozen=True)
class NameColumn:
    """A column of names, each of which becomes a column of its own."""

    names: tuple[str, ...]

    def encoded(self, values: pl.Series) -> list[pl.Series]:
        """Return one column for each name."""
        texts = values.cast(pl.String)
        return [
            texts.eq(name).fill_null(value=False).cast(pl.Int8).alias(f"{values.name} = {name}") for name in self.names
        ]


def as_points(values: pl.Series) -> pl.Series:
    """Return numbers as they are, truth values as 0 and 1, and dates as days since 1970."""
    if values.dtype.is_temporal():
        return values.cast(pl.Datetime("us")).dt.epoch("us").cast(pl.Float64) / 86_400e6
    return values.cast(pl.Float64)


@dataclass(frozen=True)
class FeatureEncoder:
    """How columns become numbers."""

    columns: Mapping[str, NumberColumn | NameColumn]

    @classmethod
    def of(cls, frame: pl.DataFrame) -> FeatureEncoder:
        """Decide by the rows of a table."""
        columns: dict[str, NumberColumn | NameColumn] = {}
        for values in frame.get_columns():
            kind = values.dtype
            if kind.is_numeric() or kind.is_temporal() or kind == pl.Boolean:
                points = as_points(values)
                mean = points.mean()
                columns[values.name] = NumberColumn(float(mean or 0.0), bool(points.null_count()))  # type: ignore[arg-type]
            else:
                counts = values.cast(pl.String).alias("name").drop_nulls().value_counts().sort("count", "name")
                columns[values.name] = NameColumn(tuple(sorted(counts.tail(MOST_NAMES)["name"].to_list())))
        return cls(columns)

    def encode(self, frame: pl.DataFrame, *, without: str | None = None) -> pl.DataFrame:
        """Return a table's columns as numbers, in the same way and order."""
        found: list[pl.Series] = []
        for name, column in self.columns.items():
            if name == without:
                continue
            if name not in frame.columns:
                raise QueryError(f"the table has no column '{name}', which the release has.")
            try:
                found += column.encoded(frame[name])
            except pl.exceptions.PolarsError:
                raise QueryError(f"column '{name}' is one of numbers in the release, and here it is not.") from None
        return pl.DataFrame(found)

"""Columns as numbers, as scikit-learn takes them: the same for the rows of a release and for any other table.

Numbers stay numbers, dates become days since 1970, and names columns of zeros and ones, one for each frequent name. A
missing number is the mean, beside a column that tells that it was missing. Cost: one pass over each column.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from incrowd.common.records import dataclass
from incrowd.errors import QueryError

MOST_NAMES = 50
"""So many names of a column have a column of their own, the most frequent ones; all others have none."""


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers or dates, and what stands for a missing one."""

    mean: float
    missing: bool
    """Whether some are missing, so that a column tells it."""

    def encoded(self, name: str, values: pl.Series) -> dict[str, pl.Series]:
        """Return the numbers, and where they are missing."""
        points = as_points(values)
        numbers = {name: points.fill_null(self.mean)}
        if self.missing:
            numbers[f"{name} is missing"] = points.is_null().cast(pl.Int8)
        return numbers


@dataclass(frozen=True)
class NameColumn:
    """A column of names, each of which becomes a column of its own."""

    names: tuple[str, ...]

    def encoded(self, name: str, values: pl.Series) -> dict[str, pl.Series]:
        """Return one column for each name."""
        texts = values.cast(pl.String)
        return {f"{name} = {one}": texts.eq(one).fill_null(value=False).cast(pl.Int8) for one in self.names}


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
        for name in frame.columns:
            values = _nameless(frame, name)
            kind = values.dtype
            if kind.is_numeric() or kind.is_temporal() or kind == pl.Boolean:
                points = as_points(values)
                mean = points.mean()
                columns[name] = NumberColumn(float(mean or 0.0), bool(points.null_count()))  # type: ignore[arg-type]
            else:
                counts = values.cast(pl.String).alias("name").drop_nulls().value_counts().sort("count", "name")
                columns[name] = NameColumn(tuple(sorted(counts.tail(MOST_NAMES)["name"].to_list())))
        return cls(columns)

    def encode(self, frame: pl.DataFrame, *, without: str | None = None) -> pl.DataFrame:
        """Return a table's columns as numbers, in the same way and order."""
        found: dict[str, pl.Series] = {}
        for name, column in self.columns.items():
            if name == without:
                continue
            if name not in frame.columns:
                raise QueryError(f"the table has no column '{name}', which the release has.")
            try:
                made = column.encoded(name, _nameless(frame, name))
            except pl.exceptions.PolarsError:
                raise QueryError(f"column '{name}' is one of numbers in the release, and here it is not.") from None
            for title, values in made.items():
                found[_free(title, found)] = values
        return pl.DataFrame(found)


def _free(title: str, taken: Mapping[str, object]) -> str:
    """Return a title, with a mark if another column is called so."""
    return title if title not in taken else _free(f"{title}'", taken)


def _nameless(frame: pl.DataFrame, name: str) -> pl.Series:
    """Return a column without its name, which might be taken for a pattern of names."""
    return frame[name].alias("")

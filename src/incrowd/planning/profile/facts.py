"""What is known of a column before anything is proposed for it."""

from __future__ import annotations

from typing import Literal

import polars as pl

from incrowd.common.records import dataclass

Look = Literal["integer", "number", "date", "truth", "duration", "text"]


@dataclass(frozen=True, eq=False)
class ColumnFacts:
    """A column's values in short. `values` never leaves the profile except as the leaves of a proposed hierarchy.

    `values` are distinct, without missing and sorted: all of them if `complete`, else those of a sample of the rows.
    `counts` says how many rows have each, where all values are known. `distinct` does not count missing.
    """

    name: str
    look: Look
    rows: int
    missing: int
    distinct: int
    distinct_exact: bool
    values: pl.Series
    complete: bool
    counts: pl.Series | None = None
    low: float | None = None
    """Smallest and largest number, where the column holds numbers; neither is ever shown."""
    high: float | None = None
    whole: bool = False
    """Whether all numbers are whole, however they are written."""
    label: str | None = None
    """What a statistics program's file says that it holds."""

    @property
    def present(self) -> int:
        """Rows that have a value."""
        return self.rows - self.missing

    @property
    def distinct_share(self) -> float:
        """Distinct values per row that has one."""
        return self.distinct / self.present if self.present else 0.0

    @property
    def is_constant(self) -> bool:
        """Whether every row has the same value."""
        return self.missing == 0 and self.distinct == 1

    @property
    def is_numeric(self) -> bool:
        """Whether every value is a number."""
        return self.look in ("integer", "number")

    @property
    def largest_share(self) -> float | None:
        """Share of rows that hold the most frequent value, missing included; None where values were not counted."""
        if self.counts is None:
            return None
        most: int = max([self.missing, *self.counts.top_k(1).to_list()])
        return most / self.rows

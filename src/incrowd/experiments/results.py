"""What an experiment measured, as one tidy table: a line per number."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import polars as pl

from incrowd.common.records import dataclass

SCHEMA = pl.Schema(
    {
        "figure": pl.String,
        "dataset": pl.String,
        "rows": pl.Int64,
        "method": pl.String,
        "parameter": pl.String,
        "measure": pl.String,
        "value": pl.Float64,
    }
)
"""What is written down of one run.

`parameter` is whatever else a number depends on: a limit, a k, a size of queries, a classifier.
"""


@dataclass
class Results:
    """Lines that are added one by one, and remarks on what could not be measured."""

    lines: list[tuple[Any, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    run: int = 0
    """Of which run of the experiment the next numbers are."""

    def add(
        self, figure: str, dataset: str, rows: int, method: str, parameter: object, measure: str, value: float
    ) -> None:
        """Write down one number."""
        self.lines.append((figure, dataset, int(rows), method, str(parameter), measure, float(value), self.run))

    def note(self, text: str) -> None:
        """Write down a remark, once."""
        if text not in self.notes:
            self.notes.append(text)

    def frame(self) -> pl.DataFrame:
        """Return all lines as a table."""
        return pl.DataFrame(self.lines, schema={**SCHEMA, "run": pl.Int64}, orient="row")


def mean_of_runs(results: pl.DataFrame) -> pl.DataFrame:
    """Return each number once: its mean over the runs in which it was measured."""
    keys = [name for name in SCHEMA if name != "value"]
    return results.group_by(keys, maintain_order=True).agg(pl.col("value").mean())

"""Equal rows one after the other, written once with how often they come: most of a release's rows are of this kind."""

from __future__ import annotations

import polars as pl

TIMES = "\0times"
"""The column of a batch that says how many rows a line stands for. No column of a table can have this name."""


def rows_in(batch: pl.DataFrame) -> int:
    """Return how many rows a batch stands for."""
    return int(batch[TIMES].sum()) if TIMES in batch.columns else batch.height

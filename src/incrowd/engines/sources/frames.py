"""Tables that are in memory already: Polars, pandas and PyArrow. The caller's frame is never changed, nor watched.

Neither pandas nor PyArrow is imported unless the caller's frame is one of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from narwhals.dependencies import is_pandas_dataframe, is_pyarrow_table

from incrowd.engines.sources.normalize import normalized
from incrowd.engines.sources.source import Native, Source
from incrowd.errors import SourceError

SUPPORTED = (
    "a path (CSV, Parquet, Arrow), a URL (sqlite:///, postgresql://), a Polars DataFrame or LazyFrame, "
    "a pandas DataFrame, or a PyArrow Table"
)


def open_frame(frame: object, *, missing: Sequence[str]) -> Source:
    """Open a frame of the caller's."""
    native, lazy = _as_polars(frame)
    lazy = normalized(lazy, missing=missing, where=f"the {native} frame")
    return Source(
        frame=lazy,
        columns=tuple(lazy.collect_schema().names()),
        native=native,
        description={"frame": native},
        in_memory=native != "polars-lazy",
    )


def is_spark_frame(frame: object) -> bool:
    """Tell a Spark frame without importing Spark."""
    return any(
        kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.") for kind in type(frame).__mro__
    )


def _as_polars(frame: object) -> tuple[Native, pl.LazyFrame]:
    if isinstance(frame, pl.LazyFrame):
        return "polars-lazy", frame
    if isinstance(frame, pl.DataFrame):
        return "polars", frame.lazy()
    if is_pandas_dataframe(frame):
        from incrowd.engines.sources.pandas import from_pandas

        return "pandas", from_pandas(frame).lazy()
    if is_pyarrow_table(frame):
        from incrowd.engines.sources.arrow import from_arrow

        hint = "drop it, or cast it to text."
        return "pyarrow", from_arrow(frame, where="the pyarrow frame", hint=hint).lazy()
    raise SourceError(f"a {type(frame).__name__} is not a table that can be opened.  Hint: give {SUPPORTED}.")

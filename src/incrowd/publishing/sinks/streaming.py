"""Batches as Polars' streaming writers take them: one at a time."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl


def as_lazy(batches: Iterator[pl.DataFrame]) -> pl.LazyFrame:
    """Present batches as a frame that can be written once."""
    from polars.io.plugins import register_io_source

    first = next(batches)

    def produce(
        with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        yield first
        yield from batches

    return register_io_source(produce, schema=first.schema)

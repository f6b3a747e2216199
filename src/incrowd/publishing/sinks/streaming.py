"""Batches as Polars' streaming writers take them: one at a time."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

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


@contextmanager
def writing() -> Iterator[None]:
    """Give errors of the operating system back their kind: Polars wraps those that it meets while it writes Parquet."""
    try:
        yield
    except pl.exceptions.ComputeError as error:
        number = re.search(r"underlying IO error.*\(os error (\d+)\)", str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from None

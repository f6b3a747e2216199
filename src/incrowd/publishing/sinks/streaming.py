"""Batches as Polars' streaming writers take them: one at a time."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

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
def writing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for Polars to write, and give errors of the operating system back their kind, which it wraps.

    Polars would open it in a thread of its own: where a batch fails, maybe only after its folder was cleared away.
    """
    try:
        with path.open("wb") as file:
            yield file
    except pl.exceptions.ComputeError as error:
        number = re.search(r"underlying IO error.*\(os error (\d+)\)", str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from None

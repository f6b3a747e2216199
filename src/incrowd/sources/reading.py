"""Errors that only show while rows are read: a damaged page of Parquet, a file that changed after it was opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl

from incrowd.core.source import OpenedTable
from incrowd.errors import SourceError

# What damaged bytes were seen to cause. A mistake in a plan, such as a column that does not exist, is not among them.
_DAMAGE = (
    pl.exceptions.ComputeError,
    pl.exceptions.NoDataError,
    pl.exceptions.OutOfBoundsError,
    pl.exceptions.PanicException,
    pl.exceptions.SchemaError,
    OSError,
)


@contextmanager
def reading(source: OpenedTable) -> Iterator[None]:
    """Collect `source.frame` inside of this: what Polars raises becomes a `SourceError` that quotes no value.

    A file that is not the one that was opened is refused, before its rows are read and after: its columns may stand in
    another order by now. Polars quotes the cell that it could not parse, so its own message must not be passed on.
    """
    source.require_unchanged()
    try:
        yield
    except _DAMAGE as error:
        source.require_unchanged()
        named = source.description.get("path") or source.description.get("url") or f"the {source.native} frame"
        raise SourceError(
            f"{named}: the rows cannot be read ({type(error).__name__}).  Hint: the data may be damaged."
        ) from None
    # Rows that came, went or moved while they were read.
    source.require_unchanged()


def read_rows(source: OpenedTable) -> pl.DataFrame:
    """Return all rows as they are."""
    with reading(source):
        return source.frame.collect(engine="streaming")

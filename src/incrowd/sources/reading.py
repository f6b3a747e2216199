"""Errors that only show while rows are read: a damaged page of Parquet, a file that changed after it was opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import polars as pl

from incrowd.common.memory import address_space_left
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


# What the threads of the first scan reserve; most of it is never used.
_FOR_THREADS = 900 << 20


@contextmanager
def reading(source: OpenedTable) -> Iterator[None]:
    """Collect `source.frame` inside of this: what Polars raises becomes a `SourceError` that quotes no value.

    A file that is not the one that was opened is refused, before its rows are read and after: its columns may stand in
    another order by now. Polars quotes the cell that it could not parse, so its own message must not be passed on.
    """
    _require_room_for_threads()
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


@cache
def _require_room_for_threads() -> None:
    """Refuse to start Polars' threads where they cannot all start: it would wait for them without end."""
    left = address_space_left()
    if left is not None and left < _FOR_THREADS:
        raise SourceError(
            "the limit on this process' address space (ulimit -v) leaves too little to read a table with.  "
            "Hint: raise it to some gigabytes, or limit the memory that is used instead, as containers do."
        )


def read_rows(source: OpenedTable) -> pl.DataFrame:
    """Return all rows as they are."""
    with reading(source):
        return source.frame.collect(engine="streaming")

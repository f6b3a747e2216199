"""Columns of times that are all midnight: where files have no types, they are written as days.

Files are written batch by batch, so this is decided before, on the table that a column comes from: one pass over
columns of times alone, and none where there are none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import polars as pl
import polars.selectors as cs

from incrowd.core.source import OpenedTable, Origin
from incrowd.hierarchies.values import as_days
from incrowd.sources.reading import reading


def midnights_as_days(
    batches: Iterator[pl.DataFrame],
    source: Origin | None,
    known: Mapping[str, pl.Series],
    changed: Collection[str] = (),
) -> Iterator[pl.DataFrame]:
    """Yield batches with days in place of times where all times of a column are midnight.

    `known` are all values that some columns may have; others are those of the source, unless they are `changed`.
    """
    days: list[str] | None = None
    for batch in batches:
        if days is None:
            days = [name for name in _days_alone(batch.schema, source, known) if name not in changed]
        yield batch.with_columns(cs.by_name(*days).cast(pl.Date)) if days else batch


def _days_alone(schema: pl.Schema, source: Origin | None, known: Mapping[str, pl.Series]) -> list[str]:
    times = [name for name, dtype in schema.items() if isinstance(dtype, pl.Datetime) and dtype.time_zone is None]
    found = [name for name in times if name in known and as_days(known[name]).dtype == pl.Date]
    if not isinstance(source, OpenedTable):
        return found
    others = [name for name in times if name not in known and name in source.columns]
    if not others:
        return found
    with reading(source):
        midnight = cs.by_name(*others) & cs.datetime()
        looked_at = source.frame.select((midnight.dt.truncate("1d") == midnight).all()).collect(engine="streaming")
    return found + [column.name for column in looked_at.get_columns() if column.item()]

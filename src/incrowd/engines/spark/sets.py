"""Columns of sets on Spark: people with their sets come to the driver, and published sets are written as texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from pyspark.sql import Observation
from pyspark.sql import functions as F
from pyspark.sql import types as T

from incrowd.core.engine import OwnedTuples
from incrowd.core.items import SEPARATOR, holds_separator
from incrowd.core.schema import Schema
from incrowd.engines.spark.arrow_batches import to_polars
from incrowd.engines.spark.counting import COUNT, cached, driver_tuples, grouped, running
from incrowd.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from incrowd.engines.spark.source import SparkSource


def owned_sets(source: SparkSource, schema: Schema) -> OwnedTuples:
    """Return people one by one, each with a set; equal ones travel once. The driver holds a line for each of them."""
    known, (column,) = list(schema.found_again_by), schema.items
    with running():
        counted, limit = cached(grouped(source, [*known, column])), driver_tuples(source.session)
        try:
            people = counted.agg(F.sum(COUNT)).first()[0] or 0  # type: ignore[index]
            found = to_polars(counted) if people <= limit else None
        finally:
            counted.unpersist()
    if found is None:
        raise SourceError(
            f"the table has {people:,} people with sets of items, which are searched on the driver, and it is to hold "
            f"{limit:,} at most.  Hint: raise spark.incrowd.driverTuples, at some 500 bytes of driver memory for each "
            "person and as much as the sets take; or publish the table in pieces, each with groups of its own."
        )
    rows = np.repeat(np.arange(found.height), found[COUNT].to_numpy())
    every = found.drop(COUNT)[rows]
    sets = every.to_series(len(known))
    if isinstance(sets.dtype, pl.List):  # other items than texts are spelt as on one machine
        sets = sets.cast(pl.List(pl.String))
    raw = pl.DataFrame([every.to_series(place).alias(name) for place, name in enumerate(known)])
    ones = np.ones(len(rows), dtype=np.int64)
    return OwnedTuples(raw, ones, raw, np.arange(len(rows)), ones, sets)


def lists_as_text(frame: DataFrame, separator: str | None) -> tuple[DataFrame, Callable[[], None] | None]:
    """Return a frame with its lists written as texts, and what raises an error, after it was written, if an item holds
    what stands between items; None where there are no lists.
    """
    between, columns = separator or SEPARATOR, frame.columns
    lists = [place for place, field in enumerate(frame.schema.fields) if isinstance(field.dataType, T.ArrayType)]
    if not lists:
        return frame, None
    seen = Observation()
    numbered = frame.toDF(*(f"c{place}" for place in range(len(columns))))
    held = [
        F.max(F.exists(f"c{place}", lambda item: item.contains(F.lit(between))).cast("int")).alias(f"c{place}")
        for place in lists
    ]
    texts = {f"c{place}": F.array_join(f"c{place}", between) for place in lists}

    def require_apart() -> None:
        for place in lists:
            if seen.get[f"c{place}"]:
                raise holds_separator(columns[place], between)

    return numbered.observe(seen, *held).withColumns(texts).toDF(*columns), require_apart

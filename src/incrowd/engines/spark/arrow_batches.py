"""Frames on their way between Spark and Polars, as Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import polars as pl
import polars.selectors as cs

from incrowd.sources.arrow import from_arrow

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType

_SIGNED = {pl.UInt8: pl.Int16, pl.UInt16: pl.Int32, pl.UInt32: pl.Int64, pl.UInt64: pl.Int64}


def to_polars(frame: DataFrame) -> pl.DataFrame:
    """Run a Spark frame and bring its rows here."""
    return from_arrow(frame.toArrow(), where="the Spark frame", hint="drop it, or cast it to text.")


def to_arrow(frame: pl.DataFrame) -> pa.Table:
    """Return a frame in the types of Arrow that Spark knows: nothing unsigned, and times in microseconds."""
    plain = frame.with_columns(
        *(cs.by_dtype(unsigned).cast(signed) for unsigned, signed in _SIGNED.items()),
        cs.datetime(time_unit=("ns", "ms")).dt.cast_time_unit("us"),
        cs.duration(time_unit=("ns", "ms")).dt.cast_time_unit("us"),
    )
    return plain.to_arrow(compat_level=pl.CompatLevel.oldest())


def spark_type(values: pl.Series) -> DataType:
    """Return the type that a column has on Spark."""
    from pyspark.sql.pandas.types import from_arrow_type

    return from_arrow_type(to_arrow(values.alias("v").to_frame().clear()).schema.field("v").type, True)


def texts_in_arrow(values: Column, mapped: Callable[[pl.Series], pl.Series]) -> Column:
    """Return texts as code of one machine maps them, value by value, on the executors."""
    import pyarrow as pa
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    def named(batch: Any) -> Any:
        return mapped(pl.Series(batch)).to_arrow(compat_level=pl.CompatLevel.oldest()).cast("string")

    named.__annotations__ = {"batch": pa.Array, "return": pa.Array}  # Spark tells kinds of functions by these
    function: Any = F.arrow_udf(named, T.StringType())  # type: ignore[attr-defined]
    column: Column = function(values)
    return column


def to_spark(session: SparkSession, frame: pl.DataFrame | Iterable[pl.DataFrame]) -> DataFrame:
    """Hand a frame to Spark, in one piece or in batches."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import from_arrow_schema

    batches = [frame] if isinstance(frame, pl.DataFrame) else frame
    table: Any = pa.concat_tables([to_arrow(batch) for batch in batches])
    # A time without a zone stays one: Spark would otherwise take it for a time in the session's zone, and shift it.
    return session.createDataFrame(table, schema=from_arrow_schema(table.schema, prefer_timestamp_ntz=True))

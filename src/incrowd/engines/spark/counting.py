"""The tally on Spark: one group-by, whose result comes to the driver as Arrow.

Cost: one scan; what is shuffled is one line for each distinct tuple of each task, at most.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import polars as pl
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from pyspark.sql import types as T

from incrowd.common.arrays import Counts
from incrowd.engines.spark.arrow_batches import to_polars
from incrowd.engines.spark.session import setting
from incrowd.errors import SourceError, TallyTooLarge
from incrowd.hierarchies.texts import NO_NUMBER

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from incrowd.engines.spark.source import SparkSource

COUNT = "n"
DRIVER_TUPLES = 20_000_000
"""As many tuples come to the driver, at most, unless `spark.incrowd.driverTuples` says otherwise."""


PART_TUPLES = 1_000_000
"""As many tuples are in a part that an executor searches, at most, unless `spark.incrowd.partTuples` says otherwise."""

_KEPT: ContextVar[list[DataFrame] | None] = ContextVar("_KEPT", default=None)


def driver_tuples(session: SparkSession) -> int:
    """Return how many distinct tuples the driver is to hold."""
    return _whole_number(session, "spark.incrowd.driverTuples", DRIVER_TUPLES)


def part_tuples(session: SparkSession) -> int:
    """Return how many distinct tuples an executor is to search at once."""
    return _whole_number(session, "spark.incrowd.partTuples", PART_TUPLES)


def _whole_number(session: SparkSession, name: str, usual: int) -> int:
    text = str(session.conf.get(name, str(usual)))
    if not text.isdigit() or not int(text):
        raise SourceError(f"{name} is a whole number above 0, not {text!r}.")
    return int(text)


def grouped(source: SparkSource, columns: Sequence[str]) -> DataFrame:
    """Return the plan that counts the distinct tuples of some columns."""
    return source.rows.groupBy(*(source.number(name) for name in columns)).agg(F.count(F.lit(1)).alias(COUNT))


def cached(frame: DataFrame) -> DataFrame:
    """Keep a frame on the executors, in as many pieces as its size asks for.

    By itself, Spark keeps what it has shuffled in `spark.sql.shuffle.partitions` pieces, so 200 tasks write and read a
    few lines.
    """
    with setting(frame.sparkSession, "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning", "true"):
        return frame.persist()  # which is where Spark decides that


def distinct_tuples(source: SparkSource, columns: Sequence[str]) -> tuple[pl.DataFrame, Counts]:
    """Return the distinct tuples of some columns, and how many rows have each, unless that would be too many."""
    large = _KEPT.get()
    with running():
        # Kept on the executors for a moment: the driver looks at how many they are before it takes them.
        counted, limit, found = cached(grouped(source, columns)), driver_tuples(source.session), None
        try:
            tuples = counted.count()
            found = to_polars(counted) if tuples <= limit else None
        finally:
            if found is None and large is not None:
                large.append(counted)
            else:
                counted.unpersist()
    if found is None:
        raise too_large(tuples, limit)
    return found.drop(COUNT).rename(dict(zip(found.columns, columns, strict=False))), found[COUNT].to_numpy()


@contextmanager
def keeping_large() -> Iterator[None]:
    """Keep a tally that is too large on the executors, inside of this, for whoever asks for the same plan again.

    Spark finds it by its plan: it need not be handed over.
    """
    token = _KEPT.set([])
    try:
        yield
    finally:
        with suppress(Exception):  # where Spark has died, nothing is kept, and why it died is what to tell
            let_go()
        _KEPT.reset(token)


def let_go() -> None:
    """Let go of the tallies that were kept."""
    large = _KEPT.get()
    while large:
        large.pop().unpersist()


def repeated_names(source: SparkSource, columns: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return, of columns in which a value is there twice, how many different values how many rows have.

    Texts are compared without the spaces around them, as elsewhere; letters that can be written in two ways are not.
    """
    found = {}
    for name in columns:
        column = _name_as_read(source, name)
        with running():
            different, rows = source.rows.agg(F.countDistinct(column), F.count(column)).first()  # type: ignore[misc]
        if different < rows:
            found[name] = int(different), int(rows)
    return found


def _name_as_read(source: SparkSource, name: str) -> Column:
    column = F.col(source.number(name))
    if source.texts.exact or not isinstance(source.rows.schema[source.number(name)].dataType, T.StringType):
        return column
    text = F.regexp_replace(column, r"(?U)^\s+|\s+$", "")
    return F.when(~text.isin("", *NO_NUMBER, *source.texts.missing), text)


def too_large(tuples: int, limit: int, why: str = "") -> TallyTooLarge:
    """Return the error that says what to do about a tally that the driver is not to hold."""
    return TallyTooLarge(
        tuples,
        limit,
        why,
        hint="round or drop columns; or raise spark.incrowd.driverTuples, at some 500 bytes of driver memory for each "
        "tuple; or publish all rows with a method that works in parts, such as Mondrian",
    )


@contextmanager
def running() -> Iterator[None]:
    """Run Spark inside of this: what it raises becomes a `SourceError` that quotes no value.

    Spark quotes the cell that it could not read, so its own message must not be passed on; the name of the error may.
    """
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        raise SourceError(
            f"Spark cannot read the rows ({name_of(error)}).  "
            "Hint: Spark's own log tells more; the data may be damaged, or may have changed since it was opened."
        ) from None


@contextmanager
def arrow_only() -> Iterator[None]:
    """Ask Spark for functions on Arrow inside of this: it warns of new versions of pandas, which nothing here uses."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
        yield


def name_of(error: PySparkException | Py4JJavaError) -> str:
    """Return the name of what went wrong on Spark, and nothing that it says: that may quote a cell."""
    if isinstance(error, PySparkException):
        return error.getCondition() or type(error).__name__
    cause: Any = error.java_exception
    while cause.getCause() is not None:
        cause = cause.getCause()
    return str(cause.getClass().getSimpleName())

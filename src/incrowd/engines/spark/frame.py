"""A release as a Spark frame, and what its rows must add up to when they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import polars as pl
from pyspark.sql import Observation
from pyspark.sql import functions as F

from incrowd.common.progress import Progress
from incrowd.core.engine import PublishedRows, ReleaseTexts
from incrowd.core.form import Form
from incrowd.engines.local import ROWS_PER_BATCH
from incrowd.engines.spark.arrow_batches import to_polars, to_spark
from incrowd.engines.spark.counting import COUNT, running
from incrowd.errors import SourceError
from incrowd.forms.verify import COUNT as LINES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from incrowd.engines.spark.source import SparkSource

MARK = "\0mark"
"""Name of the column of marks; the leading zero byte keeps it apart from any column that a table may have."""
_ROWS_AT_ONCE = 100_000
"""A line becomes so many rows at once, at most: an executor holds their numbers in memory."""


@dataclass(frozen=True, eq=False)
class Published:
    """The published rows, computed when they are asked for.

    Where they are found again in the table, each has a mark, a number of its tuple: the marks of the rows that were
    counted add up to `marks`.
    """

    marked: DataFrame
    rows: int
    marks: int | None = None

    @property
    def frame(self) -> DataFrame:
        """The rows as they are published."""
        return self.marked if self.marks is None else self.marked.drop(MARK)

    def watched(self) -> tuple[DataFrame, Callable[[], None]]:
        """Return the rows, and what raises an error, after they were written, if they are not those counted."""
        seen = Observation()
        sums = [] if self.marks is None else [F.sum(F.col(f"`{MARK}`")).alias("marks")]
        frame = self.marked.observe(seen, F.count(F.lit(1)).alias("rows"), *sums)

        def require_unchanged() -> None:
            found = seen.get
            if found["rows"] != self.rows or (self.marks is not None and (found["marks"] or 0) != self.marks):
                raise SourceError("the table has changed since its rows were counted.  Hint: publish it again.")

        return (frame if self.marks is None else frame.drop(MARK)), require_unchanged


def repeated(lines: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Return each line as often as its count says; executors make the rows, some at a time for each line."""
    pieces = F.sequence(F.lit(0), F.expr(f"({COUNT} - 1) div {_ROWS_AT_ONCE}"))
    pieced = lines.select(*columns, COUNT, F.explode(pieces).alias("piece"))
    rows = F.least(F.lit(_ROWS_AT_ONCE), F.col(COUNT) - F.col("piece") * _ROWS_AT_ONCE).cast("int")
    return pieced.select(*columns, F.explode(F.sequence(F.lit(1), rows))).select(*columns)


@dataclass(frozen=True, eq=False)
class SparkRows(PublishedRows):
    """The published rows on Spark."""

    source: SparkSource
    make: Callable[[], Published]
    on_driver: Form | None = None
    """The form that the driver can make the rows of by itself."""
    shown_at_once: ClassVar[bool] = False  # a look must not start a job on a cluster

    def batches(self) -> Iterator[pl.DataFrame]:
        """Make them here, or bring them to the driver, all at once."""
        if self.on_driver is not None:
            yield from self.on_driver.batches(ROWS_PER_BATCH)
            return
        with running():
            yield to_polars(self.make().frame)

    def frame(self) -> DataFrame:
        """Return them as a Spark frame, in an order that says nothing of the table's."""
        return self.make().frame

    def save(
        self, texts: ReleaseTexts, target: str | Path, *, format: str | None, force: bool, progress: Progress
    ) -> Path | str:
        """Let Spark write the release, on any file system that it knows."""
        from incrowd.engines.spark.saving import save

        return save(self.source, self.make(), texts, target, format=format, force=force, progress=progress)


def rows_of(source: SparkSource, form: Form) -> SparkRows:
    """Return the rows of a form whose counts hold all there is to publish."""
    return SparkRows(source, lambda: _made_of_counts(source, form), form)


def _made_of_counts(source: SparkSource, form: Form) -> Published:
    """Return each line of the release as often as it occurs, made by executors; rows of other forms are handed over."""
    if form.labelled is None:
        return Published(to_spark(source.session, form.batches(ROWS_PER_BATCH)), form.rows)
    lines = form.labelled.lines()
    published = [name for name in lines.columns if name != LINES]
    names = [f"c{number}" for number in range(len(published))]
    numbered = [lines[name].alias(number) for name, number in zip(published, names, strict=True)]
    frame = to_spark(source.session, pl.DataFrame([*numbered, lines[LINES].alias(COUNT)]))
    return Published(repeated(frame, names).toDF(*published), form.rows)

"""Published rows as a Spark frame, and what they must add up to when they are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pyspark.sql import Observation
from pyspark.sql import functions as F

from incrowd.common.records import dataclass
from incrowd.engines.spark.counting import COUNT
from incrowd.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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

"""The engine for clusters: Spark counts and joins, and the driver decides with what it counted.

This module is imported to learn what engines there are, so it imports Spark only when there is work for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from incrowd.common.arrays import Counts
from incrowd.common.extras import require_extra
from incrowd.common.records import dataclass
from incrowd.core.engine import (
    Counted,
    Engine,
    LinkedRows,
    LinkedTask,
    MadeInParts,
    OwnedTuples,
    PartsTask,
    PublishedRows,
)
from incrowd.core.form import Form
from incrowd.core.pseudonyms import PseudonymKey
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.source import ReadOptions
from incrowd.dates.treatment import DateTreatment
from incrowd.errors import SourceError

if TYPE_CHECKING:
    from incrowd.engines.spark.source import SparkSource


@dataclass(frozen=True, eq=False)
class SparkEngine(Engine):
    """Rows in a Spark frame."""

    source: SparkSource
    name: ClassVar[str] = "spark"
    has_catalogue: ClassVar[bool] = True
    carries_weights: ClassVar[bool] = True
    has_file_systems: ClassVar[bool] = True
    treats_dates: ClassVar[bool] = True
    reads_sets: ClassVar[bool] = True
    links_tables: ClassVar[bool] = True

    @classmethod
    def takes(cls, given: object) -> bool:
        """Tell a Spark frame, a Spark session or a table that was opened from one, without importing Spark."""
        return any(
            (kind.__name__ in ("DataFrame", "SparkSession") and kind.__module__.startswith("pyspark.sql."))
            or (kind.__name__ == "SparkSource" and kind.__module__ == "incrowd.engines.spark.source")
            for kind in type(given).__mro__
        )

    @classmethod
    def open(cls, given: Any, options: ReadOptions) -> SparkEngine:
        """Take a frame in, or a table that was opened already."""
        require_extra("spark", "sessions and frames of Spark")  # which may be here without what its frames need
        from incrowd.engines.spark.source import SparkSource, open_spark, refuse_nested

        if isinstance(given, SparkSource):
            options.refuse_all("this table is open already")
            refuse_nested(given.given, options.lists)
            return cls(given)
        if type(given).__name__ == "SparkSession":
            raise SourceError("a SparkSession is not a table.  Hint: give one of its frames.")
        options.refuse_all_but((), "this is a Spark frame")
        return cls(open_spark(given, missing=options.missing, exact_text=options.exact_text, lists=options.lists))

    @classmethod
    def start_session(cls, address: str | None) -> Any:
        """Start Spark, or join its master at an address."""
        from incrowd.engines.spark.session import start

        return start(address)

    @classmethod
    def open_described(cls, session: Any, described: Mapping[str, Any], *, only_stated: bool = False) -> SparkSource:
        """Open a path, a table of the catalogue, or a JDBC URL with a query."""
        from incrowd.engines.spark.opening import open_described

        return open_described(session, described, only_stated=only_stated)

    def distinct(self, columns: Sequence[str]) -> tuple[pl.DataFrame, Counts]:
        """Count distinct tuples: one group-by on Spark, whose result comes to the driver."""
        from incrowd.engines.spark.counting import distinct_tuples

        return distinct_tuples(self.source, columns)

    def keeping_counts(self) -> AbstractContextManager[None]:
        """Leave a tally that is too large with the executors."""
        from incrowd.engines.spark.counting import keeping_large

        return keeping_large()

    def owned(self, schema: Schema, *, found_again: bool) -> OwnedTuples:
        """Return people with their sets one by one, where there is a column of sets: an aggregate on Spark, too."""
        if not schema.items:
            return super().owned(schema, found_again=found_again)
        from incrowd.engines.spark.sets import owned_sets

        return owned_sets(self.source, schema)

    def repeated(self, columns: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Count the different values of each column on Spark: of names there may be more than the driver can hold."""
        from incrowd.engines.spark.counting import repeated_names

        return repeated_names(self.source, columns)

    def changing(self, columns: Sequence[str], person: Sequence[str]) -> tuple[str, ...]:
        """Compare the rows of each person by an aggregate on Spark."""
        from incrowd.engines.spark.linked_tables import changing

        return changing(self.source, columns, person)

    def only(self, columns: Sequence[str], *, distinct: bool) -> SparkEngine:
        """Return a plan that has some of the columns."""
        from incrowd.engines.spark.linked_tables import only

        return SparkEngine(only(self.source, columns, distinct=distinct))

    def linked_rows(self, task: LinkedTask) -> LinkedRows:
        """Join events with the keys of published people, on Spark."""
        from incrowd.engines.spark.linked_tables import linked_rows

        return linked_rows(self.source, task)

    def held(self, frame: pl.DataFrame) -> LinkedRows:
        """Hand rows over that the driver made."""
        from incrowd.engines.spark.linked_tables import held

        return held(self.source, frame)

    def require_dates(self, dates: Mapping[str, DateTreatment]) -> None:
        """Look at all columns of dates in one job."""
        if dates:
            from incrowd.engines.spark.dates import require_dates_on_spark

            require_dates_on_spark(self.source, dates)

    def rows_of(self, form: Form) -> PublishedRows:
        """Make the rows from the form's counts: here in batches, or on Spark as a frame."""
        from incrowd.engines.spark.frame import rows_of

        return rows_of(self.source, form)

    def joined(
        self, counted: Counted, recoding: Recoding, form: Form, key: PseudonymKey | None, *, shuffle: int | None
    ) -> PublishedRows:
        """Find the rows again in the frame, by joins on Spark."""
        from incrowd.engines.spark.frame import SparkRows
        from incrowd.engines.spark.placing import Placing
        from incrowd.engines.spark.published import Published

        labelled = form.labelled
        assert labelled is not None  # other forms take no columns that are kept
        placing = Placing(self.source, counted, recoding, labelled, key or PseudonymKey.new(), shuffle)
        return SparkRows(self.source, lambda: Published(placing.marked(), form.rows, placing.expected_marks))

    @property
    def most_rows(self) -> int:
        """As many as there may be tuples on the driver."""
        from incrowd.engines.spark.counting import driver_tuples

        return driver_tuples(self.source.session)

    def in_parts(self, task: PartsTask) -> MadeInParts:
        """Cut the table on Spark first, and the parts on executors."""
        from incrowd.engines.spark.large import publish_in_parts

        return publish_in_parts(self.source, task)

"""The engine for clusters: Spark counts and joins, and the driver decides with what it counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from incrowd.engines.engine import Counted, Origin
from incrowd.engines.local import ROWS_PER_BATCH, code_counted
from incrowd.engines.spark.arrow import to_polars, to_spark
from incrowd.engines.spark.counting import COUNT, distinct_tuples, running
from incrowd.engines.spark.placing import Placing
from incrowd.engines.spark.publishing import Published, repeated
from incrowd.pseudonyms import PseudonymKey
from incrowd.releases.generalized import Generalized
from incrowd.verification import COUNT as LINES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from incrowd.engines.spark.source import SparkSource
    from incrowd.recoding import Recoding
    from incrowd.releases.form import Form
    from incrowd.schema import Schema


@dataclass(frozen=True, eq=False)
class SparkEngine:
    """Rows in a Spark frame."""

    source: SparkSource

    def count(self, schema: Schema, population: Origin | None = None) -> Counted:
        """Count the distinct tuples of the quasi-identifiers and sensitive columns: one group-by on Spark."""
        return code_counted(distinct_tuples(self.source, schema.tallied), schema, population)

    def apply(
        self, counted: Counted, recoding: Recoding, form: Form, key: PseudonymKey | None, *, shuffle: int | None
    ) -> Iterator[pl.DataFrame]:
        """Bring the published rows to the driver, all at once."""
        with running():
            yield to_polars(self.frame(counted, recoding, form, key, shuffle=shuffle).frame)

    def frame(
        self, counted: Counted, recoding: Recoding, form: Form, key: PseudonymKey | None, *, shuffle: int | None
    ) -> Published:
        """Return the published rows as a Spark frame, in an order that says nothing of the table's.

        The rows are read again only where the tally does not hold all there is to publish.
        """
        if not isinstance(form, Generalized):
            return Published(to_spark(self.source.session, form.batches(ROWS_PER_BATCH)), form.rows)
        if not (form.schema.kept or form.schema.pseudonyms):
            return Published(self._repeated(form), form.rows)
        placing = Placing(self.source, counted, recoding, form, key or PseudonymKey.new(), shuffle)
        return Published(placing.marked(), form.rows, placing.expected_marks)

    def _repeated(self, form: Generalized) -> DataFrame:
        """Return each line of the release as often as it occurs; executors make the rows."""
        lines = form.lines()
        published = [name for name in lines.columns if name != LINES]
        names = [f"c{number}" for number in range(len(published))]
        numbered = [lines[name].alias(number) for name, number in zip(published, names, strict=True)]
        frame = to_spark(self.source.session, pl.DataFrame([*numbered, lines[LINES].alias(COUNT)]))
        return repeated(frame, names).toDF(*published)

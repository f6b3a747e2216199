"""The published rows of a release on Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.core.engine import LinkedRows, PublishedRows, ReleaseTexts
from incrowd.core.form import Form
from incrowd.engines.local import ROWS_PER_BATCH
from incrowd.engines.spark.arrow_batches import to_polars, to_spark
from incrowd.engines.spark.counting import COUNT, running
from incrowd.engines.spark.published import Published, repeated
from incrowd.engines.spark.saving import save
from incrowd.forms.verify import COUNT as LINES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from incrowd.engines.spark.source import SparkSource


@dataclass(frozen=True, eq=False)
class SparkRows(PublishedRows):
    """The published rows on Spark."""

    source: SparkSource
    make: Callable[[], Published]
    on_driver: Form | None = None
    """The form that the driver can make the rows of by itself."""
    others: Mapping[str, Callable[[], Published]] = field(default_factory=dict)
    """What is published besides, where that is on Spark, too."""
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

    def tables(self) -> Mapping[str, Any]:
        """Return what is published besides as Spark frames, by name."""
        return {name: make().frame for name, make in self.others.items()}

    def save(
        self, texts: ReleaseTexts, target: str | Path, *, format: str | None, force: bool, progress: Progress
    ) -> Path | str:
        """Let Spark write the release, on any file system that it knows."""
        beside = {name: make() for name, make in self.others.items()}
        tables = {
            "data": self.make(),
            **beside,
            **{name: _on_spark(self.source, rows) for name, rows in texts.linked.items()},
        }
        return save(self.source, tables, texts, target, format=format, force=force, progress=progress)


def _on_spark(source: SparkSource, linked: LinkedRows) -> Published:
    if isinstance(linked.rows, SparkRows):
        return linked.rows.make()
    return Published(to_spark(source.session, linked.rows.batches()), linked.height)


def rows_of(source: SparkSource, form: Form) -> SparkRows:
    """Return the rows of a form whose counts hold all there is to publish."""
    return SparkRows(source, lambda: _made_of_counts(source, form), form)


def _made_of_counts(source: SparkSource, form: Form) -> Published:
    """Return each line of the release as often as it occurs, made by executors; rows of other forms are handed over."""
    if form.labelled is None:
        return Published(to_spark(source.session, form.batches(ROWS_PER_BATCH)), form.rows)
    lines = form.labelled.written_lines()
    published = [name for name in lines.columns if name != LINES]
    names = [f"c{number}" for number in range(len(published))]
    numbered = [lines[name].alias(number) for name, number in zip(published, names, strict=True)]
    frame = to_spark(source.session, pl.DataFrame([*numbered, lines[LINES].alias(COUNT)]))
    return Published(repeated(frame, names).toDF(*published), form.rows)

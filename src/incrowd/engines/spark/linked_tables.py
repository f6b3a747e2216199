"""Tables of events on Spark: rows of published people under the release's keys, and flat tables that are split.

Keys are joined with the events by the spellings that these have, of which there are about as many as people. Cost: one
aggregate to find the spellings, one scan and one shuffle of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from pyspark.sql import functions as F

from incrowd.core.engine import LinkedRows, LinkedTask
from incrowd.engines.spark.arrow_batches import to_polars, to_spark
from incrowd.engines.spark.counting import distinct_tuples, running
from incrowd.engines.spark.dates import DatesOnSpark
from incrowd.engines.spark.frame import SparkRows
from incrowd.engines.spark.placing import lookup_frame, marks
from incrowd.engines.spark.published import MARK, Published

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from incrowd.engines.spark.source import SparkSource


def linked_rows(source: SparkSource, task: LinkedTask) -> LinkedRows:
    """Return the rows of published people, joined with their keys when they are asked for."""
    raw, counts = distinct_tuples(source, task.person)
    owner = task.owner_of(raw)
    kept = np.flatnonzero(task.published[owner])
    owner, counts, raw = owner[kept], counts[kept], raw[kept]
    dates = DatesOnSpark.of(source, task.schema)
    known = {f"r{place}": name for place, name in enumerate(task.person)}
    lookup = pl.DataFrame(
        {
            **{ours: raw[name] for ours, name in known.items()},
            **{f"k{place}": task.codes[name].gather(owner) for place, name in enumerate(task.person)},
            "mark": marks(owner),
        }
    )
    if dates is not None and dates.needs_person:
        assert task.keyed is not None
        lookup = lookup.hstack(dates.drawn(task.keyed)[owner])

    def made() -> Published:
        rows = _joined(source, task, lookup, known, dates)
        return Published(rows, int(counts.sum()), int((marks(owner) * counts).sum()))

    return LinkedRows(SparkRows(source, made), int(counts.sum()))


def _joined(
    source: SparkSource, task: LinkedTask, lookup: pl.DataFrame, known: dict[str, str], dates: DatesOnSpark | None
) -> DataFrame:
    number, rows = source.number, source.rows
    fields = {ours: rows.schema[number(name)].dataType for ours, name in known.items()}
    same = [F.col(number(name)).eqNullSafe(F.col(ours)) for ours, name in known.items()]
    written = {name: number(name) for name in (*task.schema.sensitive, *task.schema.kept)}
    carried = [*written.values(), *(name for name in lookup.columns if name not in known)]
    if dates is not None:
        rows = dates.copied(source, rows)
        written |= dates.published
        carried += dates.read.values()
    joined = rows.join(lookup_frame(source.session, lookup, fields), on=same).select(*carried)
    if dates is not None:
        joined = dates.treated(joined)
    keys = [f"k{place}" for place in range(len(task.person))]
    shown = [*keys, *(written[name] for name in task.written)]
    # By what is shown: nothing is left of the order in which the rows came.
    ordered = joined.repartition(*keys).sortWithinPartitions(*shown)
    return ordered.select(*shown, "mark").toDF(*task.person, *task.written, MARK)


def held(source: SparkSource, frame: pl.DataFrame) -> LinkedRows:
    """Hand rows over that the driver made."""
    rows = frame.sort(frame.columns)
    return LinkedRows(
        SparkRows(source, lambda: Published(to_spark(source.session, rows), rows.height)),
        rows.height,
    )


def changing(source: SparkSource, columns: Sequence[str], person: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that are not the same in all rows of a person; missing is a value like any other."""
    if not columns:
        return ()
    numbers = [source.number(name) for name in columns]
    values = [
        (F.countDistinct(number) + F.max(F.col(number).isNull().cast("int"))).alias(f"n{place}")
        for place, number in enumerate(numbers)
    ]
    most = [F.max(f"n{place}").alias(f"n{place}") for place in range(len(numbers))]
    with running():
        of_people = source.rows.groupBy(*map(source.number, person)).agg(*values)
        found = to_polars(of_people.agg(*most)).row(0)
    return tuple(name for name, number in zip(columns, found, strict=True) if (number or 0) > 1)


def only(source: SparkSource, columns: Sequence[str], *, distinct: bool) -> SparkSource:
    """Return some of the columns, with equal rows once where only distinct ones are wanted."""
    rows = source.rows.select(*map(source.number, columns))
    frame = (rows.distinct() if distinct else rows).toDF(*columns)
    return replace(source, given=frame, columns=tuple(columns))

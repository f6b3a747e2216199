"""What was measured, as tables and charts."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from incrowd.experiments.charts import Axis, lines
from incrowd.experiments.report import Section
from incrowd.experiments.slicing.measuring import BUCKETIZED, GENERALIZED, RAW, SLICED, WIDE

COLOURS = {
    RAW: "#444444",
    SLICED: "#1b6ca8",
    WIDE: "#86bde8",
    BUCKETIZED: "#e8893a",
    GENERALIZED: "#c0392b",
    "majority": "#999999",
}


def sections(results: pl.DataFrame) -> Iterator[Section]:
    """Yield one section per kind of measurement."""
    queries = results.filter(pl.col("figure") == "queries").with_columns(
        attributes=pl.col("parameter").str.extract(r"(\d+) attributes").cast(pl.Int64),
        case=pl.col("dataset") + ", " + pl.col("parameter").str.extract(r"(l = \d+)"),
    )
    yield Section(
        "queries",
        "Error of counting queries",
        "Median relative error of random counting queries with a condition on the sensitive attribute, by how many "
        "quasi-identifiers they ask about; answers of at least one row in a thousand.",
        _wide(queries, ["dataset", "parameter"]),
        None if queries.is_empty() else lambda: lines(
            queries, Axis("attributes", "quasi-identifiers asked about", ordinal=True),
            Axis("value", "median relative error", format="%"), by="method", colours=COLOURS, panels="case",
            title="Counting queries on three forms of release",
        ),
    )  # fmt: skip
    learnt = results.filter(pl.col("figure") == "classifiers")
    yield Section(
        "classifiers",
        "Classifiers",
        "Accuracy on raw rows that were held out, after learning from each release; 'raw data' is what could be had.",
        _wide(learnt, ["dataset", "parameter"]),
        None,
    )
    member = results.filter(pl.col("figure") == "membership")
    yield Section(
        "membership",
        "Who is in the table",
        "People who are in the table, and made-up people with the same frequencies who are not: how many of them match "
        "a bucket in all that is known of them. Where only the first do, a match tells who is in the table.",
        _wide(member, ["dataset", "parameter", "measure"]),
        None,
    )
    times = results.filter(pl.col("figure") == "times").with_columns(thousands=pl.col("rows") / 1000)
    yield Section(
        "times",
        "Time",
        "Seconds from the table to the checked release, the better of two runs.",
        _wide(times, ["rows"]),
        None if times.is_empty() else lambda: lines(
            times, Axis("thousands", "rows (thousands)"), Axis("value", "seconds"), by="method", colours=COLOURS,
            title="Time to publish a census",
        ),
    )  # fmt: skip


def _wide(found: pl.DataFrame, index: list[str]) -> pl.DataFrame | None:
    if found.is_empty():
        return None
    return found.pivot(on="method", index=index, values="value", aggregate_function="first", maintain_order=True)

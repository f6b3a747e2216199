"""What was measured, as tables and charts."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from incrowd.experiments.charts import Axis, lines, ranking
from incrowd.experiments.report import Section
from incrowd.experiments.slicing.measuring import RAW
from incrowd.experiments.slicing.membership import ADVANTAGE, MATCHING, RANDOM
from incrowd.experiments.slicing.ratings import AT_RANDOM, ITEM_MEAN
from incrowd.experiments.slicing.ways import BUCKETIZED, COARSE, GENERALIZED, PAPER, RECOMMENDED, SLICED, WIDE

COLOURS = {
    RAW: "#444444",
    SLICED: "#1b6ca8",
    WIDE: "#86bde8",
    PAPER: "#0b3c5d",
    RECOMMENDED: "#2a9d8f",
    COARSE: "#5a3e8c",
    BUCKETIZED: "#e8893a",
    GENERALIZED: "#c0392b",
    "majority": "#999999",
    AT_RANDOM: "#b8a9c9",
    ITEM_MEAN: "#999999",
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
            panels_in_order=queries["case"].unique(maintain_order=True).to_list(), columns=2,
            title="Counting queries, by form of release",
        ),
    )  # fmt: skip
    learnt = results.filter(pl.col("figure") == "classifiers")
    yield Section(
        "classifiers",
        "Classifiers",
        "Mean accuracy over folds, on raw rows that neither the release nor the classifier has seen; releases are made "
        "of the training part alone. 'raw data' is what could be had.",
        _wide(learnt, ["dataset", "parameter"]),
        None,
    )
    member = results.filter(pl.col("figure") == "membership")
    advantages = (
        member.filter(pl.col("measure").is_in([ADVANTAGE.format(people) for people in (MATCHING, RANDOM)]))
        .filter(pl.col("parameter") == pl.col("parameter").first())
        .with_columns(
            case=pl.concat_str(
                pl.col("dataset").str.split(" ").list.first(),
                pl.col("measure").str.strip_prefix(ADVANTAGE.format("")),
                separator=": ",
            )
        )
    )
    yield Section(
        "membership",
        "Who is in the table",
        "Two kinds of people who are not in the table: fake people who match a bucket all the same, which are the "
        "paper's, and people at random, made up with the frequencies of the table. The advantage is how much better "
        "than by chance the number of buckets that somebody matches tells the original people from them: 0 is no "
        "news, 1 gives everybody away.",
        _wide(member, ["dataset", "parameter", "measure"]),
        None if advantages.is_empty() else lambda: ranking(
            advantages, Axis("value", "advantage (0 is no news)", format=".2f"), COLOURS, panels="case",
            panels_in_order=advantages["case"].unique(maintain_order=True).to_list(), columns=2,
            title="How well matches tell who is in the table",
            subtitle=f"Original people against two kinds of people who are not there, {advantages['parameter'][0]}",
        ),
    )  # fmt: skip
    films = results.filter(pl.col("figure") == "ratings")
    yield Section(
        "ratings",
        "Ratings of films",
        "A wide and sparse table, in the manner of the paper's experiment on Netflix: which share of the squared error "
        "of the films' means is gone when ratings of people who were held out are predicted from their other ratings, "
        "learnt from each release. 1 is all of it; 0 is no better than the mean.",
        _wide(films, ["dataset", "rows", "parameter", "measure"]),
        None if films.is_empty() else lambda: ranking(
            films, Axis("value", "share of squared error explained", format=".2f"), COLOURS, panels="dataset",
            title="Predicting ratings, by form of release",
        ),
    )  # fmt: skip
    times = results.filter(pl.col("figure") == "times").with_columns(thousands=pl.col("rows") / 1000)
    yield Section(
        "times",
        "Time",
        "Seconds of CPU from the table to the checked release, the least of three runs.",
        _wide(times, ["rows"]),
        None if times.is_empty() else lambda: lines(
            times, Axis("thousands", "rows (thousands)"), Axis("value", "CPU seconds"), by="method", colours=COLOURS,
            title="Time to publish a census",
        ),
    )  # fmt: skip


def _wide(found: pl.DataFrame, index: list[str]) -> pl.DataFrame | None:
    if found.is_empty():
        return None
    return found.pivot(on="method", index=index, values="value", aggregate_function="first", maintain_order=True)

"""The paper's figures and Table 5, as tables and charts of what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import polars as pl

from incrowd.experiments.charts import Axis, lines, ranking, shades
from incrowd.experiments.claims import paired
from incrowd.experiments.report import Section
from incrowd.experiments.sattar.drawing import (
    BLUES,
    BROWNS,
    COLOURS,
    ROWS,
    census_only,
    drawn_later,
    largest,
    rows_text,
    wide,
)
from incrowd.experiments.sattar.query_figures import (
    histogram_distances,
    noisy_errors,
    query_errors,
    unchanged_answers,
)
from incrowd.experiments.sattar.settings import AVG_K, BREAKS, MAJORITY, OURS, RAW
from incrowd.metrics.learning import CLASSIFIERS


def sections(results: pl.DataFrame) -> Iterator[Section]:
    """Yield what there is to tell, figure by figure; a figure that was not measured is left out."""
    makers: tuple[tuple[str, Callable[[pl.DataFrame], Iterator[Section]]], ...] = (
        ("2", _withheld),
        ("3", _unsatisfied),
        ("table 5", _equivalent_k),
        ("4", query_errors),
        ("5", _accuracies),
        ("6", unchanged_answers),
        ("7", noisy_errors),
        ("8", histogram_distances),
        ("9", _against_diffgen),
        ("10", _times),
    )
    for figure, make in makers:
        found = results.filter(pl.col("figure") == figure)
        if not found.is_empty():
            yield from make(found.with_columns(thousands=pl.col("rows") / 1000))


def _against_diffgen(found: pl.DataFrame) -> Iterator[Section]:
    drawn = found.filter(pl.col("measure") == "accuracy")
    yield Section(
        "figure-9",
        "Figure 9: a decision tree against DiffGen",
        "Income from six quasi-identifiers, learnt from local recoding's release and from DiffGen's noisy counts after "
        "10 specializations at ε = 0.1; the same held-out rows for all.",
        wide(drawn, ["method"], "parameter"),
    )


def _withheld(found: pl.DataFrame) -> Iterator[Section]:
    broken, found = found.filter(pl.col("measure") == BREAKS), found.filter(pl.col("measure") != BREAKS)
    drawn = census_only(found).with_columns(limit="δ' = " + pl.col("parameter"))
    limits = drawn["limit"].unique(maintain_order=True).to_list()
    at_last = drawn.filter(pl.col("limit") == limits[-1])["value"] if limits else found["value"]
    yield Section(
        "figure-2",
        "Figure 2: rows withheld by distortion limit",
        "Share of the sampled rows (β = 0.9) that could be made safe only with more distortion than δ' allows.",
        wide(found, ["dataset", "rows"], "parameter"),
        drawn_later(
            drawn,
            lines,
            ROWS,
            Axis("value", "rows withheld", ".0%"),
            shades(limits, BLUES),
            by="limit",
            panels="dataset",
            columns=2,
            title=f"At {limits[-1] if limits else ''}, at most {largest(at_last):.1%} of the rows are withheld",
            subtitle="Local recoding of a 90 % sample of the census, by distortion limit δ'",
        ),
    )
    if not broken.is_empty():
        yield Section(
            "figure-2-criterion",
            "Figure 2: published rows that break the criterion",
            "Share of the published rows whose observed confidence exceeds the expected one, counted apart from the "
            "method, and the same share if the sampled rows were published as they are.",
            wide(broken, ["dataset", "rows", "parameter"], "method"),
        )


def _unsatisfied(found: pl.DataFrame) -> Iterator[Section]:
    drawn = census_only(found).with_columns(k=pl.col("parameter").cast(pl.Int64), size=rows_text())
    last = drawn.filter(pl.col("k") == drawn["k"].max())["value"]
    yield Section(
        "figure-3",
        "Figure 3: rows that Mondrian leaves above the expected confidence, by k",
        "Share of all rows whose observed confidence exceeds the expected one in a table that is only k-anonymous.",
        wide(found, ["dataset", "rows"], "parameter"),
        drawn_later(
            drawn,
            lines,
            Axis("k", "k of Mondrian"),
            Axis("value", "rows that break the criterion", ".0%"),
            shades(drawn["size"].unique(maintain_order=True).to_list(), BROWNS),
            by="size",
            panels="dataset",
            columns=2,
            title=f"At k = {largest(drawn['k']):g}, {largest(last):.2%} of Mondrian's rows at most break the criterion",
            subtitle="Mondrian of the whole census, by number of rows",
        ),
    )


def _equivalent_k(found: pl.DataFrame) -> Iterator[Section]:
    yield Section(
        "table-5",
        "Table 5: Max.k and Avg.k",
        "Max.k is the smallest k at which no row of Mondrian's table breaks the criterion; Avg.k is the mean size of "
        "local recoding's groups.",
        wide(
            found.with_columns(what=pl.col("measure") + pl.when(pl.col("method").str.contains("node"))
            .then(pl.lit(", node labels")).otherwise(pl.lit(""))),
            ["dataset", "rows"],
            "what",
        ),
    )  # fmt: skip


def _accuracies(found: pl.DataFrame) -> Iterator[Section]:
    means = found.filter(pl.col("measure") == "accuracy")
    drawn = means.filter(pl.col("method") != MAJORITY)
    pairs = paired(drawn, OURS, RAW)
    gap = pairs["theirs"] - pairs["ours"]
    majority = largest(means.filter(pl.col("method") == MAJORITY)["value"])
    yield Section(
        "figure-5",
        "Figure 5: accuracy of classifiers on Adult",
        "Income from six quasi-identifiers. Releases are made from the training part of each fold alone, Max.k "
        f"included; test rows are raw. The largest class alone has {majority:.4f}.",
        wide(drawn, ["method"], "parameter"),
        drawn_later(
            drawn,
            ranking,
            Axis("value", "accuracy", ".3f", zero=False),
            COLOURS,
            panels="parameter",
            panels_in_order=CLASSIFIERS,
            columns=2,
            title=f"Classifiers lose at most {100 * largest(gap):.1f} points by local recoding",
            subtitle="Accuracy on Adult, mean over folds",
        ),
    )


def _times(found: pl.DataFrame) -> Iterator[Section]:
    named = pl.when(pl.col("method") == OURS).then("local recoding, δ' = " + pl.col("parameter"))
    found = found.with_columns(series=named.otherwise(pl.lit("Mondrian at Avg.k")))
    drawn = found.filter(pl.col("measure") == "CPU seconds")
    limits = drawn.filter(pl.col("method") == OURS)["series"].unique(maintain_order=True).to_list()
    most = drawn.filter(pl.col("rows") == drawn["rows"].max(), pl.col("method") == OURS)["value"]
    yield Section(
        "figure-10",
        "Figure 10: time",
        "CPU seconds, which other work on the machine disturbs least, from a table in memory to a release that is "
        "checked: counting, sampling, search, labels, verification. The shorter of two runs.",
        wide(drawn, ["rows"], "series"),
        drawn_later(
            drawn,
            lines,
            ROWS,
            Axis("value", "CPU seconds", ".1~f"),
            {**shades(limits, BLUES[2:]), "Mondrian at Avg.k": COLOURS[AVG_K]},
            by="series",
            title=f"{largest(drawn['rows']):,.0f} rows take {largest(most):.1f} CPU seconds at most",
            subtitle="Census, occupation; from a table in memory to a checked release",
        ),
    )
    yield Section(
        "figure-10-clock",
        "Figure 10, by the clock",
        "Seconds that passed in the same runs.",
        wide(found.filter(pl.col("measure") == "seconds"), ["rows"], "series"),
    )

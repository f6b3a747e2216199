"""Figures 4 and 6-8: how far answers and histograms are off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import polars as pl

from incrowd.experiments.charts import Axis, lines, ranking
from incrowd.experiments.report import Section
from incrowd.experiments.sattar.drawing import COLOURS, ROWS, SIZES, census_only, drawn_later, largest, wide, wins
from incrowd.experiments.sattar.settings import AVG_K, CRITERION, LAPLACE, LAPLACE_IN_ALL, LEAST_LOSS, MAX_K, OURS


def query_errors(found: pl.DataFrame) -> Iterator[Section]:
    """Figure 4, on the census and on Adult."""
    means = found.filter(pl.col("measure") == "mean error")
    yield Section(
        "figure-4",
        "Figure 4: query errors against Mondrian",
        "Mean relative error of random queries; estimates from the sample are scaled by 1/β. Node labels show each "
        "group as nodes of the hierarchies instead of ranges between cuts; under the criterion, Mondrian cuts as long "
        "as every row meets it.",
        wide(means, ["dataset", "rows", "parameter"], "method"),
        _error_lines(means, (OURS, LEAST_LOSS, MAX_K, AVG_K, CRITERION), wins(census_only(means), MAX_K)),
    )
    adult = means.filter(pl.col("dataset").str.starts_with("Adult"), pl.col("method").is_in([*COLOURS]))
    if not adult.is_empty():
        yield Section(
            "figure-4-adult",
            "Figure 4 on Adult",
            "The same queries on 45,222 real records, with occupation and income as sensitive columns.",
            chart=drawn_later(
                adult.with_columns(panel=pl.col("dataset") + ", " + pl.col("parameter") + " queries"),
                ranking,
                Axis("value", "mean relative error", ".2r"),
                COLOURS,
                panels="panel",
                panels_in_order=[
                    f"{name}, {size} queries" for name in sorted(adult["dataset"].unique()) for size in SIZES
                ],
                columns=3,
                title=wins(adult, MAX_K),
                subtitle="Adult, 45,222 rows",
            ),
        )
    medians = found.filter(pl.col("measure") == "median error")
    yield Section(
        "figure-4-median",
        "Figure 4, medians",
        "The median relative error of the same queries, which a few tiny true answers do not dominate.",
        wide(medians, ["dataset", "rows", "parameter"], "method"),
    )


def _error_lines(means: pl.DataFrame, methods: tuple[str, ...], title: str) -> Callable[[], Any] | None:
    drawn = census_only(means).filter(pl.col("method").is_in(methods))
    drawn = drawn.with_columns(panel=pl.col("dataset") + ", " + pl.col("parameter") + " queries")
    return drawn_later(
        drawn,
        lines,
        ROWS,
        Axis("value", "mean relative error", ".2~f"),
        COLOURS,
        panels="panel",
        panels_in_order=[f"{name}, {size} queries" for name in sorted(drawn["dataset"].unique()) for size in SIZES],
        title=title,
        subtitle="Census; small: below 1 % of the rows, large: above 10 %, unbounded: any answer but 0",
    )


def unchanged_answers(found: pl.DataFrame) -> Iterator[Section]:
    """Figure 6."""
    drawn = found.with_columns(epsilon=pl.col("parameter").cast(pl.Float64))
    share = largest(drawn.filter(pl.col("parameter") == "0.1", pl.col("measure") == "unchanged")["value"])
    yield Section(
        "figure-6",
        "Figure 6: noisy answers that are the true ones",
        "Share of answers that discrete Laplace noise of scale 1/ε leaves as they were, over random queries (an answer "
        "may be 0).",
        wide(found, ["dataset", "rows", "measure"], "parameter"),
        drawn_later(
            drawn,
            lines,
            Axis("epsilon", "ε per answer"),
            Axis("value", "answers left unchanged", ".0%"),
            {"unchanged": COLOURS[LAPLACE], "unchanged, no answer below 0": COLOURS[LAPLACE_IN_ALL]},
            by="measure",
            panels="dataset",
            columns=2,
            title=f"At ε = 0.1, noise leaves {share:.1%} of the answers as they were",
            subtitle="Discrete Laplace noise on random queries of the census",
        ),
    )


def noisy_errors(found: pl.DataFrame) -> Iterator[Section]:
    """Figure 7."""
    means = found.filter(pl.col("measure") == "mean error")
    shown = means.filter(pl.col("method") != LAPLACE_IN_ALL)
    small, large = (census_only(shown).filter(pl.col("parameter") == size) for size in ("small", "large"))
    title = wins(small, LAPLACE, "Local recoding errs less than noise on small queries").removesuffix(" cases")
    yield Section(
        "figure-7",
        "Figure 7: query errors against Laplace noise",
        "Mean relative error of the queries of figure 4. The paper spends ε = 0.1 on every answer, 1000 answers then "
        f"cost ε = 100 together; *{LAPLACE_IN_ALL}* divides one ε = 0.1 among all of a workload's queries.",
        wide(means, ["dataset", "rows", "parameter"], "method"),
        _error_lines(shown, (OURS, LAPLACE), title + wins(large, LAPLACE, ", on large ones")),
    )


def histogram_distances(found: pl.DataFrame) -> Iterator[Section]:
    """Figure 8."""
    drawn = census_only(found).with_columns(panel=pl.col("dataset") + ", " + pl.col("measure"))
    yield Section(
        "figure-8",
        "Figure 8: distances between histograms of sensitive values",
        "Mean over random groups of people (conjunctions of ranges over quasi-identifiers) of the distance from the "
        "true histogram: Kullback-Leibler in nats, with half a person added to every bar, and city-block in people.",
        wide(found, ["dataset", "rows", "measure"], "method"),
        drawn_later(
            drawn,
            lines,
            ROWS,
            Axis("value", "mean distance (nats; people)"),
            COLOURS,
            panels="panel",
            columns=2,
            title=wins(drawn, LAPLACE, "Local recoding keeps histograms nearer than noise"),
            subtitle="Random groups of people in the census",
        ),
    )

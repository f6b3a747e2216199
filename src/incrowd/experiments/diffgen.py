"""Qian, Song & Liang, section IV, as one experiment: DiffGen against Consistent DiffGen.

C4.5 learns from noisy boxes and is tested on a third of the rows that was held out; range counts are compared on the
same boxes, and asked for ranges that cut through them. Algorithm 2 is run as it is printed, beside the toolkit's own
estimate of the same tree. Adult is the paper's table, with its 14 attributes; where it is not at hand, the built-in
census takes its place. The paper's 20 runs are made in batches (`repeats` × `runs`), each with a third of its own held
out: a claim holds only if it holds in every batch. Cost: half an hour to an hour of one core at the paper's sizes, a
minute with `Settings.quick()`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl

from incrowd.common.parameters import require_whole
from incrowd.common.progress import Progress, silent
from incrowd.common.records import dataclass
from incrowd.datasets import CENSUS_TREES, census
from incrowd.dp.boxes.consistency import published_counts
from incrowd.dp.boxes.utilities import Utility
from incrowd.dp.budget import Budget
from incrowd.errors import RecipeError, did_you_mean
from incrowd.experiments.charts import Axis, lines
from incrowd.experiments.diffgen_claims import (
    ACCURACY,
    ANY_RANGE,
    CLAIMS,
    CLASS_ONLY,
    CONSISTENT,
    DIFFGEN,
    ERROR,
    PRINTED,
    PUBLISHED,
    RAW,
    SYNTHESIS,
    UNCLIPPED,
    accuracies,
)
from incrowd.experiments.diffgen_measuring import (
    Boxes,
    Split,
    consistent_boxes,
    consistent_tree,
    draw_any_ranges,
    draw_queries,
    flat_boxes,
    people_boxes,
    printed_boxes,
    specialize,
    synthetic_boxes,
    true_boxes,
)
from incrowd.experiments.repeating import several_runs
from incrowd.experiments.report import Findings, Section
from incrowd.experiments.results import Results, mean_of_runs
from incrowd.experiments.tables import ADULT_IS_ABSENT, CENSUS_QUASI, adult_folder
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.intervals import Intervals
from incrowd.methods.private import PublicTable, public_table
from incrowd.publishing.table import read

PAPER = "Lei Qian, Tao Song & Alei Liang: The optimization of the Range-Count Queries in Differential Privacy."
ADULT_QUASI = ("age", "sex", "race", "marital-status", "education", "native-country", "workclass", "occupation")
RELATIONSHIPS = ["Husband", "Wife", "Own-child", "Other-relative", "Not-in-family", "Unmarried"]
ADULT_MORE: dict[str, Hierarchy] = {
    "education-num": Intervals(widths=(1,), lower=1, upper=16),
    "hours-per-week": Intervals(widths=(1,), lower=1, upper=99),
    "capital-gain": Intervals(cuts=((0.5, *(1000 * step - 0.5 for step in range(1, 100))),)),
    "capital-loss": Intervals(cuts=((0.5, *(100 * step - 0.5 for step in range(1, 45))),)),
    "fnlwgt": Intervals(cuts=(tuple(20_000 * step - 0.5 for step in range(1, 75)),)),
    "relationship": Categories.from_tree(RELATIONSHIPS),
}
"""The other six of the 14 attributes that the paper names; what is public of them is known without the table."""
FIGURES = {"infogain": "4", "max": "5", "gini": "gini"}
COLOURS = {RAW: "#444444", CLASS_ONLY: "#aaaaaa", CONSISTENT: "#1b6ca8", DIFFGEN: "#c0392b", UNCLIPPED: "#e8893a"}
COLOURS |= {PRINTED: "#6a3d9a", PUBLISHED: "#7fb3d5", SYNTHESIS: "#2e8b57"}
_STRUCTURE = Fraction(1, 2)
"""The share of ε that goes into the choices, as in DiffGen's paper; all methods count the boxes of one tree."""
_MAKE = {DIFFGEN: flat_boxes, PRINTED: printed_boxes, CONSISTENT: consistent_boxes}
_NO_ROOM = (
    "Some of DiffGen's tables have more boxes than fit the memory, since every combination gets a noisy count; they "
    "are left out of its averages."
)


@dataclass(frozen=True)
class Settings:
    """How much is measured; the paper's own numbers by default."""

    epsilons: tuple[str, ...] = ("0.1", "0.25", "0.5", "1")
    steps: tuple[int, ...] = (4, 7, 10, 13, 16)
    utilities: tuple[Utility, ...] = ("infogain", "max", "gini")
    repeats: int = 4
    """Batches of runs; a claim holds only if it holds in all of them."""
    runs: int = 5
    """Runs that each number of a batch is the mean of."""
    queries: int = 100
    query_steps: int = 10
    attributes: int = 14
    """Of Adult: 14, as in the paper, or the 8 that have a hierarchy of their own."""
    rows: int = 50_000
    """Of the census, where Adult is not at hand."""
    seed: int = 0
    adult: bool = True

    def __post_init__(self) -> None:
        for epsilon in self.epsilons:
            Budget(epsilon)
        for name in ("repeats", "runs", "queries", "query_steps", "rows"):
            require_whole("the experiment", name, getattr(self, name), at_least=1)
        if self.attributes not in (len(ADULT_QUASI), len(ADULT_QUASI) + len(ADULT_MORE)):
            raise RecipeError(f"the experiment has 8 or 14 attributes, not {self.attributes!r}.")
        for utility in self.utilities:
            if utility not in FIGURES:
                raise RecipeError(f"there is no utility '{utility}' here.{did_you_mean(utility, get_args(Utility))}")

    @classmethod
    def quick(cls, **changes: Any) -> Settings:
        """Return a run of about a minute."""
        small: dict[str, Any] = {
            "epsilons": ("0.1", "1"),
            "steps": (4, 10, 16),
            "runs": 1,
            "queries": 30,
            "attributes": 8,
        }
        small["repeats"] = 2
        return cls(**{**small, **changes})

    def to_dict(self) -> dict[str, Any]:
        """Return what is worth telling."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


def run(settings: Settings, progress: Progress = silent) -> Findings:
    """Measure everything."""
    start = time.perf_counter()
    results = Results()
    folder = adult_folder() if settings.adult else None
    if folder is None:
        results.note(ADULT_IS_ABSENT + " The built-in census was measured instead.")
    name, table = adult_table(folder, settings.attributes) if folder is not None else census_table(settings.rows)
    rows = int(table.people.counts.sum())
    for seed, tell in several_runs(results, settings.repeats, settings.seed, progress):
        batch = replace(settings, seed=seed)
        split = Split.of(table, np.random.default_rng([seed, 1]))
        results.add("bounds", name, rows, RAW, "", ACCURACY, split.raw_accuracy())
        results.add("bounds", name, rows, CLASS_ONLY, "", ACCURACY, split.majority_accuracy())
        _measure_accuracies(results, name, rows, split, batch, tell)
        _measure_synthesis(results, name, rows, split, batch, tell)
        _measure_queries(results, name, rows, table, batch, tell)
    frame = results.frame()
    shown = tuple(sections(mean_of_runs(frame)))
    seconds = time.perf_counter() - start
    return Findings("diffgen", PAPER, settings.to_dict(), frame, shown, CLAIMS, tuple(results.notes), seconds)


def adult_table(folder: Path, attributes: int = 8) -> tuple[str, PublicTable]:
    """Return Adult with eight or fourteen quasi-identifiers and the class income, in public codes."""
    more = ADULT_MORE if attributes > len(ADULT_QUASI) else {}
    known: dict[str, Hierarchy] = {
        "age": Intervals(widths=(1,), lower=17, upper=91),
        **{name: Categories.read_csv(folder / f"hierarchy_{name}.csv") for name in ADULT_QUASI if name != "age"},
        **more,
        "income": Categories.from_tree(["<=50K", ">50K"]),
    }
    table = read(
        folder / "adult.csv", quasi=(*ADULT_QUASI, *more), sensitive=["income"], others="drop", hierarchies=known
    )
    return "Adult income", public_table(table.engine.count(table.schema).tally, table.schema, ())


def census_table(rows: int) -> tuple[str, PublicTable]:
    """Return the census with its six quasi-identifiers, and whether somebody earns more than 50,000 as the class."""
    earns = pl.when(pl.col("salary") > 50_000).then(pl.lit("more")).otherwise(pl.lit("less"))
    known: dict[str, Hierarchy] = {
        "age": Intervals(widths=(1,), lower=14, upper=95),
        **{name: Categories.from_tree(CENSUS_TREES[name]) for name in CENSUS_QUASI if name != "age"},
        "income": Categories.from_tree(["less", "more"]),
    }
    frame = census(rows).with_columns(income=earns)
    table = read(frame, quasi=CENSUS_QUASI, sensitive=["income"], others="drop", hierarchies=known)
    return "census income", public_table(table.engine.count(table.schema).tally, table.schema, ())


def _measure_accuracies(
    results: Results, name: str, rows: int, split: Split, settings: Settings, progress: Progress
) -> None:
    cases = [(u, e, h) for u in settings.utilities for e in settings.epsilons for h in settings.steps]
    for number, (utility, epsilon, steps) in enumerate(cases):
        progress("accuracy", number / len(cases))
        found: dict[str, list[float]] = {}
        for repeat in range(settings.runs):
            rng = np.random.default_rng([settings.seed, 2, number, repeat])
            search, left = specialize(split.training, utility, steps, epsilon, _STRUCTURE, rng)
            for method, make in _MAKE.items():
                boxes = make(split.training, search, left, rng)
                if boxes is None:
                    results.note(_NO_ROOM)
                    continue
                shown = Boxes(boxes.lows, boxes.highs, np.maximum(boxes.counts, 0))
                found.setdefault(method, []).append(split.accuracy(shown, search.cuts, rng))
        for method, values in found.items():
            parameter = f"{utility}, ε = {epsilon}, h = {steps}"
            figure = FIGURES[utility]
            results.add(figure, name, rows, method, parameter, ACCURACY, float(np.mean(values)))
            results.add(figure, name, rows, method, parameter, "standard deviation", float(np.std(values)))
    progress("accuracy", 1.0)


def _measure_synthesis(
    results: Results, name: str, rows: int, split: Split, settings: Settings, progress: Progress
) -> None:
    """Learn from rows made of noisy pairs of columns: what else the same ε buys."""
    for number, epsilon in enumerate(settings.epsilons):
        progress("synthesis", number / len(settings.epsilons))
        found = []
        for repeat in range(settings.runs):
            rng = np.random.default_rng([settings.seed, 4, number, repeat])
            boxes, cuts = synthetic_boxes(split.training, epsilon, rng)
            found.append(split.accuracy(boxes, cuts, rng))
        results.add("synthesis", name, rows, SYNTHESIS, f"ε = {epsilon}", ACCURACY, float(np.mean(found)))
        results.add("synthesis", name, rows, SYNTHESIS, f"ε = {epsilon}", "standard deviation", float(np.std(found)))
    progress("synthesis", 1.0)


def _measure_queries(
    results: Results, name: str, rows: int, table: PublicTable, settings: Settings, progress: Progress
) -> None:
    """Compare counts of the same boxes with those that are true of these boxes, and of ranges that cut through them."""
    for number, epsilon in enumerate(settings.epsilons):
        errors: dict[tuple[str, str], list[float]] = {}
        for repeat in range(settings.runs):
            progress("queries", (number + repeat / settings.runs) / len(settings.epsilons))
            rng = np.random.default_rng([settings.seed, 3, number, repeat])
            search, left = specialize(table, "max", settings.query_steps, epsilon, Fraction(1, 4), rng)
            flat = flat_boxes(table, search, left, rng)
            if flat is None:
                results.note(_NO_ROOM)
                continue
            printed = printed_boxes(table, search, left, rng)
            tree = consistent_tree(table, search, left, rng)
            told = {
                **({} if printed is None else {PRINTED: printed}),
                DIFFGEN: Boxes(flat.lows, flat.highs, np.maximum(flat.counts, 0)),
                UNCLIPPED: flat,
                CONSISTENT: Boxes.of_leaves(tree, tree.estimates),
                PUBLISHED: Boxes.of_leaves(tree, published_counts(tree)),
            }
            aligned, anywhere = true_boxes(table, search.cuts), people_boxes(table)
            asked = [(aligned, *one) for one in draw_queries(search.cuts, settings.queries, rng)]
            asked += [(anywhere, *one) for one in draw_any_ranges(table.trees, settings.queries, rng)]
            for truth, size, queries in asked:
                actual = truth.answers(queries)
                for method, boxes in told.items():
                    errors.setdefault((method, size), []).append(float(np.abs(boxes.answers(queries) - actual).mean()))
        for (method, size), found in errors.items():
            results.add("queries", name, rows, method, f"ε = {epsilon}, {size}", ERROR, float(np.mean(found)))
    progress("queries", 1.0)


def sections(results: pl.DataFrame) -> Iterator[Section]:
    """Yield the figures, as far as they were measured."""
    bounds = results.filter(pl.col("figure") == "bounds")
    for utility, figure in FIGURES.items():
        found = accuracies(results, utility)
        if found.is_empty():
            continue
        where = f"figure {figure}" if figure != utility else "beyond the paper"
        wide = found.pivot("h", index=["method", "ε"], values="value", aggregate_function="mean", sort_columns=False)
        yield Section(
            f"accuracy-{utility}",
            f"Accuracy with the utility {utility} ({where})",
            "The share of held-out rows that a decision tree gets right, by the number of specializations h. Bounds: "
            + "; ".join(f"{row['method']} {row['value']:.4f}" for row in bounds.to_dicts())
            + ".",
            wide,
            lambda found=found, utility=utility: _accuracy_chart(found, bounds, utility),  # type: ignore[misc]
        )
    yield from _synthesis_section(results)
    errors = results.filter(pl.col("measure") == ERROR).with_columns(
        pl.col("parameter").str.extract(r"ε = ([0-9.]+)").cast(pl.Float64).alias("ε"),
        pl.col("parameter").str.extract(r", (.*)$").alias("size"),
    )
    if not errors.is_empty():
        yield Section(
            "queries",
            "Range counts",
            "Mean absolute error against the true counts of the same boxes, counted with the same ε. Published tables "
            "have no count below 0, and what that adds to many empty leaves adds up; a release's own answers (negative "
            "counts kept, Consistent DiffGen by least squares) do not have this fault.",
            errors.pivot("ε", index=["size", "method"], values="value", aggregate_function="mean"),
            lambda: lines(
                errors,
                Axis("ε", "ε", log=True),
                Axis("value", "mean absolute error (rows)", log=True),
                COLOURS,
                title="Range counts by how many leaves they cover",
                panels="size",
                panels_in_order=(
                    "one leaf",
                    "up to 10 % of leaves",
                    "more leaves",
                    *(f"{n} {ANY_RANGE}" for n in (1, 2, 3)),
                ),
            ),
        )


def _synthesis_section(results: pl.DataFrame) -> Iterator[Section]:
    """Show the best of each method at each ε beside rows made of pairs of columns."""
    made = results.filter((pl.col("figure") == "synthesis") & (pl.col("measure") == ACCURACY)).with_columns(
        pl.col("parameter").str.extract(r"ε = ([0-9.]+)").cast(pl.Float64).alias("ε")
    )
    if made.is_empty():
        return
    best = accuracies(results).group_by("method", "ε", maintain_order=True).agg(pl.col("value").max())
    both = pl.concat([made.select("method", "ε", "value"), best]).sort("ε")
    yield Section(
        "synthesis",
        "Beside rows made of pairs of columns",
        "The accuracy of a decision tree on synthetic rows that have the noisy counts of a tree of pairs, by class "
        "(MST under pure ε), and the best that each method above reaches with any utility and number of steps.",
        both.pivot("ε", index="method", values="value", aggregate_function="mean"),
        lambda: lines(
            both,
            Axis("ε", "ε", log=True),
            Axis("value", "accuracy", format=".2f", zero=False),
            COLOURS,
            title="Accuracy of synthetic rows and of noisy boxes",
        ),
    )


def _accuracy_chart(found: pl.DataFrame, bounds: pl.DataFrame, utility: str) -> Any:
    """Draw the curves of both methods between the two bounds, in a panel per ε."""
    ends = found.select("ε", "h").unique()
    both = ends.join(bounds.select("method", "value"), how="cross")
    curves = pl.concat([found.select("ε", "h", "method", "value"), both.select("ε", "h", "method", "value")])
    panels = curves.sort("ε", "h").with_columns(pl.format("ε = {}", "ε").alias("panel"))
    return lines(
        panels,
        Axis("h", "specializations", zero=False),
        Axis("value", "accuracy", format=".2f", zero=False),
        COLOURS,
        title=f"Accuracy with the utility {utility}",
        panels="panel",
        columns=2,
    )

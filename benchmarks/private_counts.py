"""Counts from private releases: how far off they are, and how often their intervals hold the truth.

`python -m benchmarks.private_counts [--epsilon 1 …] [--seeds 3] [--table adult …] [--method …]` prints, for each method
and number of conditions of natural queries (`benchmarks/intervals.py`), the mean absolute error in rows, the share of
the 95 % intervals that hold the truth, and their median width; and how well a decision tree that learnt from the
release predicts the class of rows that were held out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import incrowd as ic
from benchmarks.intervals import natural_queries, true_count
from benchmarks.tables import data_folder
from incrowd.datasets import CENSUS_TREES
from incrowd.hierarchies.hierarchy import Hierarchy

NIST = ("AGEP", "SEX", "MSP", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "EDU", "PINCP_DECILE", "DVET", "DEYE")
ADULT = ("age", "sex", "race", "marital-status", "education", "native-country", "workclass", "occupation")
QUERIES = 300


@dataclass(frozen=True)
class PrivateCase:
    """A table with declared values, and the class that is learnt."""

    name: str
    frame: pl.DataFrame
    declared: dict[str, Hierarchy]
    target: str
    levels: dict[str, int]
    """The columns and levels of a flat histogram that fits the memory."""
    number: str
    """The column of a hierarchical histogram."""


def adult(folder: Path) -> PrivateCase:
    """Return Adult with eight quasi-identifiers and the class income."""
    declared: dict[str, Hierarchy] = {
        "age": ic.Intervals(widths=(1, 5, 10), lower=17, upper=91),
        **{name: ic.Categories.read_csv(folder / "adult" / f"hierarchy_{name}.csv") for name in ADULT if name != "age"},
        "income": ic.Categories.from_tree(["<=50K", ">50K"]),
    }
    frame = pl.read_csv(folder / "adult" / "adult.csv", infer_schema_length=None).select(*ADULT, "income")
    return PrivateCase("adult", frame, declared, "income", {"age": 3, "sex": 0, "education": 1, "race": 0}, "age")


def census(rows: int = 30_000) -> PrivateCase:
    """Return the made-up census, and who earns more than 50,000 as the class."""
    earns = pl.when(pl.col("salary") > 50_000).then(pl.lit("more")).otherwise(pl.lit("less"))
    names = ("sex", "education", "marital", "race", "birth_place")
    declared: dict[str, Hierarchy] = {
        "age": ic.Intervals(widths=(1, 5, 10), lower=14, upper=95),
        **{name: ic.Categories.from_tree(CENSUS_TREES[name]) for name in names},
        "income": ic.Categories.from_tree(["less", "more"]),
    }
    frame = ic.datasets.census(rows, seed=1).select("age", *names, income=earns)
    return PrivateCase("census", frame, declared, "income", {"age": 3, "sex": 0, "education": 1, "race": 0}, "age")


def nist(folder: Path, state: str) -> PrivateCase:
    """Return an excerpt of NIST's with ten demographic columns; who has difficulty to see is the class."""
    told = json.loads((folder / "nist" / "data_dictionary.json").read_text())
    declared: dict[str, Hierarchy] = {
        name: ic.Categories.from_tree(list(told[name]["values"])) for name in NIST if name != "AGEP"
    }
    declared["AGEP"] = ic.Intervals(widths=(1, 5, 10), lower=0, upper=99)
    frame = pl.read_csv(folder / "nist" / f"{state}2019.csv", infer_schema_length=0).select(NIST)
    frame = frame.with_columns(pl.col("AGEP").cast(pl.Int64))
    return PrivateCase(state, frame, declared, "OWN_RENT", {"AGEP": 3, "SEX": 0, "EDU": 0, "MSP": 0}, "AGEP")


def tables(names: list[str]) -> Iterator[PrivateCase]:
    """Yield the tables that are at hand."""
    folder = data_folder()
    for name in names:
        if name == "census":
            yield census()
        elif folder is not None:
            yield adult(folder) if name == "adult" else nist(folder, name)


METHODS: dict[str, Callable[[str, PrivateCase], Any]] = {
    "diffgen": lambda epsilon, _: ic.DiffGen(epsilon),
    "consistent-diffgen": lambda epsilon, _: ic.ConsistentDiffGen(epsilon),
    "boxes-only": lambda epsilon, _: ic.ConsistentDiffGen(epsilon, margins_share=0),
    "marginals": lambda epsilon, _: ic.MarginalSynthesis(epsilon),
    "adaptive": lambda epsilon, _: ic.AdaptiveSynthesis(epsilon),
    "flat-histogram": lambda epsilon, case: ic.FlatHistogram(epsilon, levels=case.levels),
    "hierarchical-histogram": lambda epsilon, _: ic.HierarchicalHistogram(epsilon),
}


def published(case: PrivateCase, method: str, epsilon: str, seed: int, frame: pl.DataFrame) -> ic.Release:
    """Publish a table by a method, with the columns that it takes."""
    quasi = [name for name in case.declared if name != case.target]
    if method == "flat-histogram":
        quasi = list(case.levels)
    if method == "hierarchical-histogram":
        quasi = [case.number]
    known = {name: case.declared[name] for name in (*quasi, case.target)}
    table = ic.read(frame, quasi=quasi, sensitive=[case.target], hierarchies=known, others="drop")
    return ic.publish(table, method=METHODS[method](epsilon, case), seed=seed)


def queries_of(frame: pl.DataFrame, conditions: int, number: int, seed: int) -> list[dict[str, Any]]:
    """Return natural queries with so many conditions."""
    found: list[dict[str, Any]] = []
    while len(found) < number:
        drawn = natural_queries(frame, number, seed + 1000 * len(found))
        found += [query for query in drawn if len(query) == conditions]
    return found[:number]


def accuracy(case: PrivateCase, method: str, epsilon: str, seed: int) -> float:
    """Return how often a tree that learnt from a release of two thirds of the rows is right about the others."""
    from sklearn.tree import DecisionTreeClassifier

    order = np.random.default_rng(seed).permutation(case.frame.height)
    held_out = case.frame[order[: len(order) // 3]]
    release = published(case, method, epsilon, seed, case.frame[order[len(order) // 3 :]])
    features, classes, weights = release.training_set(case.target, seed=seed)
    tree = DecisionTreeClassifier(min_weight_fraction_leaf=0.002, random_state=0)
    tree.fit(features, classes, sample_weight=weights)
    predicted = tree.predict(release.features(held_out, target=case.target))
    return float(np.mean(predicted == held_out[case.target].to_numpy()))


def measure(case: PrivateCase, method: str, epsilon: str, seed: int) -> Iterator[tuple[int, float, float, float]]:
    """Yield, by number of conditions: mean absolute error, share of intervals that hold the truth, median width."""
    release = published(case, method, epsilon, seed, case.frame)
    asked = case.frame.select(*release.schema.tallied)
    for conditions in range(1, min(3, asked.width) + 1):
        errors, held, widths = [], [], []
        for query in queries_of(asked, conditions, QUERIES, seed):
            found, truth = release.estimate(query), true_count(asked, query)
            errors.append(abs(found.value - truth))
            held.append(found.low - 0.5 <= truth <= found.high + 0.5)
            widths.append(found.high - found.low)
        yield conditions, float(np.mean(errors)), float(np.mean(held)), float(np.median(widths))


def main() -> None:
    """Print all tables that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epsilon", nargs="*", default=["0.5", "1"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--table", nargs="*", default=["adult", "census", "ma", "tx"])
    parser.add_argument("--method", nargs="*", default=list(METHODS))
    parser.add_argument("--accuracy", action="store_true")
    chosen = parser.parse_args()
    for case in tables(chosen.table):
        for method in chosen.method:
            for epsilon in chosen.epsilon:
                found = [list(measure(case, method, epsilon, seed)) for seed in range(1, chosen.seeds + 1)]
                for each in zip(*found, strict=True):
                    error, held, width = (float(np.mean([one[place] for one in each])) for place in (1, 2, 3))
                    print(
                        f"{case.name:7} {method:24} ε = {epsilon:4} {each[0][0]} conditions: "
                        f"off by {error:7.1f}, held {held:6.1%}, width {width:8.0f}",
                        flush=True,
                    )
                if chosen.accuracy and method != "hierarchical-histogram":
                    right = [accuracy(case, method, epsilon, seed) for seed in range(1, chosen.seeds + 1)]
                    print(f"{case.name:7} {method:24} ε = {epsilon:4} accuracy: {np.mean(right):.3f}", flush=True)


if __name__ == "__main__":
    main()

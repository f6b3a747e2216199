"""Synthetic rows by method and ε: `python -m benchmarks.synthesis`.

Adult (45,222 rows, eight quasi-identifiers, income as the class): the mean error of counting queries with one to three
conditions, in rows, and the accuracy of classifiers that learn from synthetic rows of two thirds of the table and are
tested on the third that was held out. NIST's excerpts (ten demographic columns): the 2- and 3-marginal scores.
The bars are those of AIM and MST of private-pgm at ε = 1, δ = 1e-9, measured from outside (degree 2, model size 1 MB).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import incrowd as ic
from benchmarks.tables import data_folder
from incrowd.common.progress import silent
from incrowd.dp.accountant import Accountant
from incrowd.experiments.diffgen import adult_table
from incrowd.experiments.diffgen_measuring import Split
from incrowd.methods.private import PrivateMethod, PublicTable, public_table

NIST = ("AGEP", "SEX", "MSP", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "EDU", "PINCP_DECILE", "DVET", "DEYE")
EXCERPTS = ("ma2019", "tx2019")
QUERIES = 300
QUERY_TABLES = ("queries", "even queries")
ADULT = (*QUERY_TABLES, "accuracy")
DELTA = "1e-9"
BARS = {
    "even queries": {"AIM": (33, 38, 24)},
    "accuracy": {"AIM": (0.816, 0.824, 0.826)},
    "ma2019": {"AIM": (945, 886), "MST": (913, 824)},
    "tx2019": {"AIM": (937, 864), "MST": (923, 846)},
}
METHODS: dict[str, Callable[[str], PrivateMethod]] = {
    "adaptive, δ = 1e-9": lambda epsilon: ic.AdaptiveSynthesis(epsilon, DELTA),
    "adaptive": lambda epsilon: ic.AdaptiveSynthesis(epsilon),
    "marginals": lambda epsilon: ic.MarginalSynthesis(epsilon),
    "single columns": lambda epsilon: ic.AdaptiveSynthesis(epsilon, most_choices=0),
}


@dataclass(frozen=True, eq=False)
class Rows:
    """Distinct tuples in public codes, the class last, and how many rows there are of each."""

    codes: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, table: PublicTable) -> Rows:
        """Return a table's own rows."""
        people = table.people
        return cls(np.column_stack([people.codes, people.classes + 1]).astype(np.int64), people.counts)

    @classmethod
    def made(cls, method: PrivateMethod, table: PublicTable, seed: int) -> tuple[Rows, float]:
        """Return synthetic rows, and the seconds of CPU that they took."""
        start = time.process_time()
        accountant = Accountant(limit=method.budget)
        tree, counts = method.measure(table, rng=np.random.default_rng(seed), progress=silent, accountant=accountant)
        box, kind = np.nonzero(counts)
        codes = np.column_stack([tree.lows[box], kind + 1]).astype(np.int64)
        return cls(codes, counts[box, kind]), time.process_time() - start


def nist_table(folder: Path, name: str) -> PublicTable:
    """Return an excerpt with its ten demographic columns; their values are those of NIST's dictionary."""
    told = json.loads((folder / "nist" / "data_dictionary.json").read_text(encoding="utf-8"))
    known = {
        column: ic.Intervals(widths=(1,), lower=0, upper=100)
        if "min" in told[column]["values"]
        else ic.Categories.from_tree(sorted(told[column]["values"], key=lambda value: (len(value), value)))
        for column in NIST
    }
    people = pl.read_csv(folder / "nist" / f"{name}.csv", infer_schema=False).select(NIST)
    table = ic.read(people, quasi=NIST, others="drop", hierarchies=known)
    return public_table(table.engine.count(table.schema).tally, table.schema, ())


def marginal_score(table: Rows, made: Rows, k: int) -> float:
    """Return NIST's k-marginal score over all columns but the last."""
    distances = []
    for columns in combinations(range(table.codes.shape[1] - 1), k):
        sizes = [int(max(table.codes[:, one].max(), made.codes[:, one].max(initial=0))) + 1 for one in columns]
        shares = []
        for rows in (table, made):
            key = np.ravel_multi_index(tuple(rows.codes[:, list(columns)].T), sizes)
            shares.append(np.bincount(key, rows.counts, int(np.prod(sizes))) / max(int(rows.counts.sum()), 1))
        distances.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return 1000 * (1 - float(np.mean(distances)))


def natural_queries(
    table: PublicTable, number: int, conditions: int, rng: np.random.Generator, *, even: bool
) -> list[list[tuple[int, NDArray[np.bool_]]]]:
    """Return questions about values that people have: one value, up to three, or a range between two people's.

    Where they are `even`, values are drawn from all that are declared, rare or not, and one at a time.
    """
    rows = Rows.of(table)
    chances = rows.counts / rows.counts.sum()
    sizes = [*(tree.size for tree in table.trees), table.people.class_count + 1]
    ordered = [*(tree.ordered for tree in table.trees), False]
    found = []
    for _ in range(number):
        query = []
        for column in rng.choice(len(sizes), conditions, replace=False).tolist():
            some = rows.codes[rng.choice(len(chances), 3, p=chances), column]
            if even:
                some = rng.integers(1, sizes[column], 3)
            asked = np.zeros(sizes[column], dtype=bool)
            if ordered[column]:
                asked[some[:2].min() : some[:2].max() + 1] = True
            else:
                asked[some[0] if even or rng.random() < 0.5 else some] = True
            query.append((column, asked))
        found.append(query)
    return found


def query_errors(table: PublicTable, made: Rows, *, even: bool, seed: int = 7) -> list[float]:
    """Return the mean absolute error in rows of queries with one, two and three conditions."""
    rng = np.random.default_rng(seed)
    found = []
    for conditions in (1, 2, 3):
        errors = []
        for query in natural_queries(table, QUERIES, conditions, rng, even=even):
            answers = []
            for rows in (Rows.of(table), made):
                inside = np.ones(len(rows.counts), dtype=bool)
                for column, asked in query:
                    inside &= asked[rows.codes[:, column]]
                answers.append(int(rows.counts[inside].sum()))
            errors.append(abs(answers[0] - answers[1]))
        found.append(float(np.mean(errors)))
    return found


def accuracies(split: Split, made: Rows) -> list[float]:
    """Return the accuracy of a decision tree, logistic regression and boosting on rows that were held out."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    features, classes = made.codes[:, :-1].astype(float), made.codes[:, -1] - 1
    test = split.held_out.codes.astype(float)
    encoder = OneHotEncoder(handle_unknown="ignore").fit(np.vstack([features, test]))
    found = []
    for learner, encode in (
        (DecisionTreeClassifier(min_weight_fraction_leaf=0.002, random_state=0), False),
        (LogisticRegression(max_iter=500), True),
        (HistGradientBoostingClassifier(random_state=0), False),
    ):
        learner.fit(encoder.transform(features) if encode else features, classes, sample_weight=made.counts)
        right = learner.predict(encoder.transform(test) if encode else test) == split.held_out.classes
        found.append(float(split.held_out.counts[right].sum() / split.held_out.counts.sum()))
    return found


@dataclass(frozen=True)
class Line:
    """What one method comes to on one table, at one ε: means over seeds."""

    table: str
    epsilon: str
    method: str
    numbers: tuple[float, ...]
    seconds: float


def lines(folder: Path, tables: list[str], epsilons: list[str], methods: list[str], seeds: int) -> Iterator[Line]:
    """Measure everything."""
    for name in tables:
        table = adult_table(folder / "adult")[1] if name in ADULT else nist_table(folder, name)
        for epsilon in epsilons:
            for method in methods:
                numbers, seconds = [], []
                for seed in range(seeds):
                    split = Split.of(table, np.random.default_rng([seed, 1])) if name == "accuracy" else None
                    made, took = Rows.made(METHODS[method](epsilon), split.training if split else table, seed)
                    seconds.append(took)
                    if split is not None:
                        numbers.append(accuracies(split, made))
                    elif name in QUERY_TABLES:
                        numbers.append(query_errors(table, made, even=name == "even queries"))
                    else:
                        numbers.append([marginal_score(Rows.of(table), made, k) for k in (2, 3)])
                means = tuple(np.mean(numbers, axis=0).tolist())
                yield Line(name, epsilon, method, means, float(np.mean(seconds)))


TITLES = {
    "queries": "Adult: mean error of queries for values that people have, 1 / 2 / 3 conditions, in rows",
    "even queries": "Adult: the same, for values drawn evenly",
    "accuracy": "Adult: accuracy of a tree / logistic regression / boosting on rows held out",
}


def main() -> None:
    """Print one table for each of the measured tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="*", default=[*ADULT, *EXCERPTS])
    parser.add_argument("--epsilons", nargs="*", default=["0.1", "0.3", "1", "3"])
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--seeds", type=int, default=3)
    chosen = parser.parse_args()
    console, folder = Console(width=140), data_folder()
    if folder is None:
        console.print("Adult and NIST's excerpts are not at hand (INCROWD_DATA).")
        return
    for name in chosen.tables:
        shown = Table(title=TITLES.get(name, f"NIST {name}: 2- / 3-marginal score"), title_justify="left")
        for heading in ("ε", "method", "result", "seconds of CPU"):
            shown.add_column(heading, justify="left" if heading == "method" else "right")
        digits = 3 if name == "accuracy" else 0
        for line in lines(folder, [name], chosen.epsilons, chosen.methods, chosen.seeds):
            result = " / ".join(f"{number:.{digits}f}" for number in line.numbers)
            shown.add_row(line.epsilon, line.method, result, f"{line.seconds:.1f}")
        for bar, numbers in BARS.get(name, {}).items():
            shown.add_row(
                "1", f"{bar}, δ = 1e-9, outside", " / ".join(f"{number:.{digits}f}" for number in numbers), ""
            )
        console.print(shown)


if __name__ == "__main__":
    main()

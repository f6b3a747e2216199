"""How often the intervals of counts hold the truth: `python -m benchmarks.intervals`.

Natural queries have one to three conditions: a value that somebody has, one of a few such values, or a range between
two people's numbers. Nothing is drawn from a release; the true counts are those of the table. `--private` asks private
releases of all tables and methods of `benchmarks/private_counts.py`, at several ε.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

import incrowd as ic
from benchmarks.tables import data_folder
from incrowd.errors import QueryError

QUERIES = 400
HISTOGRAMS = ("flat-histogram", "hierarchical-histogram")
ADULT = {
    "quasi": ["age", "sex", "education", "marital-status", "race", "native-country", "hours-per-week"],
    "sensitive": ["occupation"],
}
NIST = {"quasi": ["AGEP", "SEX", "MSP", "RAC1P", "OWN_RENT", "EDU", "DVET"], "sensitive": ["PINCP_DECILE"]}
CENSUS = {"quasi": ["age", "sex", "education", "marital", "race", "birth_place"], "sensitive": ["occupation"]}


@dataclass(frozen=True)
class Coverage:
    """What the intervals of one release are worth."""

    table: str
    release: str
    held: float
    """The share of the 95 % intervals that hold the truth."""
    within_bounds: float
    """The share of the truths that are between `least` and `most`: all of them, or a bound is wrong."""
    median_width: float
    """The width of the middle interval, as a share of its estimate."""


def natural_queries(frame: pl.DataFrame, number: int, seed: int) -> list[dict[str, Any]]:
    """Return questions with one to three conditions, about values that people have."""
    rng, found = np.random.default_rng(seed), []
    known = {name: frame[name].drop_nulls() for name in frame.columns}
    for _ in range(number):
        query: dict[str, Any] = {}
        for name in rng.choice(frame.columns, min(rng.integers(1, 4), frame.width), replace=False).tolist():
            people = known[name]
            some = people.gather(rng.integers(0, len(people), 3)).to_list()
            if people.dtype == pl.String:
                query[name] = some[0] if rng.random() < 0.5 else sorted(set(some))
            else:
                query[name] = (min(some[:2]), max(some[:2]))
        found.append(query)
    return found


def true_count(frame: pl.DataFrame, query: dict[str, Any]) -> int:
    """Count the rows of a table."""
    conditions = [
        pl.col(name).is_between(*asked)
        if isinstance(asked, tuple)
        else pl.col(name).is_in([asked] if isinstance(asked, str) else asked)
        for name, asked in query.items()
    ]
    return frame.filter(*conditions).height


def coverage(
    table: str, release: ic.Release, name: str, frame: pl.DataFrame, queries: list[dict[str, Any]]
) -> Coverage:
    """Hold intervals against the truth; questions that a release cannot answer are left out."""
    held, inside, widths = [], [], []
    for query in queries:
        try:
            found = release.estimate(query)
        except QueryError:  # a column that shows nothing but '*', or a name that nobody published has
            continue
        truth = true_count(frame, query)
        held.append(found.low - 0.5 <= truth <= found.high + 0.5)  # counts are whole
        inside.append(found.least - 1e-6 <= truth <= found.most + 1e-6)
        widths.append((found.high - found.low) / max(found.value, 1.0))
    return Coverage(table, name, float(np.mean(held)), float(np.mean(inside)), float(np.median(widths)))


def releases(frame: pl.DataFrame, roles: dict[str, list[str]]) -> Iterator[tuple[str, ic.Release]]:
    """Publish a table in ways that withhold nobody."""
    table = ic.read(frame, **roles, others="drop")
    for k in (5, 50):
        yield f"Mondrian, k = {k}", ic.publish(table, ic.KAnonymity(k), seed=1)
    yield "Mondrian, hierarchy", ic.publish(table, ic.KAnonymity(10), method=ic.Mondrian(labels="hierarchy"), seed=1)
    yield "full domain, k = 10", ic.publish(table, ic.KAnonymity(10), method=ic.FullDomain(max_withheld=0), seed=1)
    yield "Anatomy, l = 4", ic.publish(table, ic.LDiversity(4), method=ic.Anatomy(), seed=1)
    yield "slicing, l = 3", ic.publish(table, ic.SlicedDiversity(3), method=ic.Slicing(), seed=1)


def cases(number: int = QUERIES, rows: int = 20_000) -> Iterator[Coverage]:
    """Measure Adult and NIST's excerpts, where they are at hand, and a made-up census."""
    tables = {"census": (ic.datasets.census(rows, seed=1), CENSUS)}
    folder = data_folder()
    if folder is not None:
        adult = pl.read_csv(folder / "adult" / "adult.csv", infer_schema_length=None)
        tables = {"Adult": (adult, ADULT), **tables}
        for state in ("ma", "tx"):
            people = pl.read_csv(folder / "nist" / f"{state}2019.csv", infer_schema_length=0)
            numbers = people.with_columns(pl.col("AGEP").cast(pl.Int64))
            tables[f"NIST {state}"] = (numbers.select(*NIST["quasi"], *NIST["sensitive"]), NIST)
    for table, (frame, roles) in tables.items():
        asked = frame.select(*roles["quasi"], *roles["sensitive"])
        queries = natural_queries(asked, number, seed=7)
        for name, release in releases(frame, roles):
            yield coverage(table, release, name, asked, queries)


def private_cases(
    tables: list[str], methods: list[str], epsilons: list[str], seeds: range, number: int = QUERIES
) -> Iterator[Coverage]:
    """Measure private releases; queries are those that a release's columns allow."""
    from benchmarks.private_counts import published  # it asks the queries of this module
    from benchmarks.private_counts import tables as private_tables

    for case in private_tables(tables):
        for method in methods:
            for epsilon in epsilons:
                found = []
                for seed in seeds:
                    release = published(case, method, epsilon, seed, case.frame)
                    asked = case.frame.select(*release.schema.tallied)
                    queries = natural_queries(asked, number, seed)
                    found.append(coverage(case.name, release, f"{method}, ε = {epsilon}", asked, queries))
                yield Coverage(
                    found[0].table,
                    found[0].release,
                    *(
                        float(np.mean([getattr(one, name) for one in found]))
                        for name in ("held", "within_bounds", "median_width")
                    ),
                )


def main() -> None:
    """Print how often intervals hold the truth."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--private", action="store_true")
    parser.add_argument("--tables", nargs="*", default=["adult", "census", "ma", "tx"])
    parser.add_argument("--methods", nargs="*", default=["consistent-diffgen", "marginals", "adaptive", *HISTOGRAMS])
    parser.add_argument("--epsilons", nargs="*", default=["0.3", "1", "3"])
    parser.add_argument("--seeds", type=int, default=3, help="how many draws of each release")
    parser.add_argument("--first", type=int, default=1, help="the seed of the first of them")
    parser.add_argument("--queries", type=int, default=QUERIES, help="how many of each draw")
    chosen = parser.parse_args()
    seeds = range(chosen.first, chosen.first + chosen.seeds)
    private = (chosen.tables, chosen.methods, chosen.epsilons, seeds, chosen.queries)
    print(f"{'table':10}{'release':36}{'held':>8}{'bounds':>8}{'width':>8}")
    for case in private_cases(*private) if chosen.private else cases():
        print(
            f"{case.table:10}{case.release:36}{case.held:8.1%}{case.within_bounds:8.1%}{case.median_width:8.1%}",
            flush=True,
        )


if __name__ == "__main__":
    main()

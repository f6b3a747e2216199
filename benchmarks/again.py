"""Publishing again: m-invariance on a large table and its counterfeits; what quarters tell together; what it costs.

`python -m benchmarks.again` prints it by itself; `--rows` is the size of the large table, `--people` that of quarters.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

import incrowd as ic
from incrowd.attacks.composition import Composition
from incrowd.auditing.run import aim
from incrowd.core.people_memory import PeopleMemory, PlacedValues, Placement, placed
from incrowd.hierarchies.flat import Exact
from incrowd.ledger.together import SensitiveColumn, judge_together

QUASI = ["age", "sex", "education", "marital", "birth_place"]
ROLES = {"person": "id", "quasi": QUASI, "sensitive": ["occupation"], "others": "drop"}


def quarters(people: int, number: int, turnover: float, seed: int = 0) -> list[pl.DataFrame]:
    """Return quarters of the census: a share of the people leaves each time, and as many others come."""
    rng = np.random.default_rng(seed)
    change = int(people * turnover)
    everybody = ic.datasets.census(people + change * (number - 1), seed=seed).with_row_index("id")
    here, found = np.arange(people), []
    for quarter in range(number):
        if quarter:
            leaving = rng.choice(people, change, replace=False)
            here = np.concatenate([np.delete(here, leaving), people + change * (quarter - 1) + np.arange(change)])
        found.append(everybody[np.sort(here)])
    return found


def invariance(console: Console, rows: int) -> None:
    """Print what m-invariance costs on a large table, and how many counterfeits it needs."""
    table = Table(title=f"m-invariance, m = 3, census of {rows:,} rows, 20 % turnover", title_justify="left")
    for name in ("quarter", "CPU seconds", "counterfeits", "share", "withheld"):
        table.add_column(name, justify="right")
    memory: PeopleMemory | None = None
    for number, quarter in enumerate(quarters(rows, 4, 0.2), start=1):
        opened, begun = ic.read(quarter, **ROLES), time.process_time()
        release = ic.publish(opened, method=ic.MInvariance(3, known=memory))
        spent, memory = time.process_time() - begun, release.memory
        share = release.counterfeits / release.rows
        table.add_row(str(number), f"{spent:.1f}", f"{release.counterfeits:,}", f"{share:.3%}", f"{release.withheld:,}")
    console.print(table)


def composition(console: Console, people: int, number: int = 10) -> None:
    """Print how often all quarters together give a value away, for m-invariant and for ordinary releases."""
    tables = quarters(people, number, 0.3)
    table = Table(
        title=f"{number} quarters of {people:,} people, 30 % turnover: right guesses of the occupation in the last one",
        title_justify="left",
    )
    for name in ("releases", "best of one alone", "all together", "one value left"):
        table.add_column(name, justify="left" if name == "releases" else "right")
    memory: PeopleMemory | None = None
    invariant = []
    for each in tables:
        invariant.append(ic.publish(ic.read(each, **ROLES), method=ic.MInvariance(3, known=memory), seed=1))
        memory = invariant[-1].memory
    diverse = [ic.KAnonymity(5), ic.ProbabilisticLDiversity(3)]
    kinds: dict[str, Callable[[pl.DataFrame], ic.Release]] = {
        "Anatomy, 3-diverse": lambda each: ic.publish(
            ic.read(each, **ROLES), ic.ProbabilisticLDiversity(3), method=ic.Anatomy(), seed=1
        ),
        "Mondrian, 5-anonymous, 3-diverse": lambda each: ic.publish(ic.read(each, **ROLES), diverse, seed=1),
    }
    first = kinds["Mondrian, 5-anonymous, 3-diverse"](tables[0])
    ordinary = {name: [make(each) for each in tables] for name, make in kinds.items()}
    ordinary["the first one's scheme again"] = [
        first,
        *(first.scheme.apply(ic.read(each, **ROLES), seed=1) for each in tables[1:]),
    ]
    for name, releases in {**ordinary, "m-invariant, m = 3": invariant}.items():
        risk = composed(releases)
        table.add_row(name, f"{risk.baseline:.1%}", f"{risk.value:.1%}", f"{risk.details['only one value left']:.1%}")
    console.print(table)


def composed(releases: Sequence[ic.Release]) -> ic.Risk:
    """Return the attack on the last release, with all others."""
    target, _ = aim(releases[-1], earlier=releases[:-1])
    return Composition().run(target, rng=np.random.default_rng(0))


def made_up_releases(people: int, number: int, rng: np.random.Generator, size: int = 12) -> list[Placement]:
    """Return placements of people in groups that half of them leave each time; 20 % of the people come and go."""
    value = rng.integers(0, 50, people * 2).astype(np.int32)
    known_as = rng.permutation(people * 2).astype(np.int64)
    group = rng.integers(0, people // size, people * 2)
    here, found = np.arange(people), []
    for each in range(number):
        if each:
            leaving = rng.choice(people, people // 10, replace=False)
            fresh = people + people // 10 * (each - 1) + np.arange(people // 10)
            here = np.concatenate([np.delete(here, leaving), fresh])
            moved = rng.random(people * 2) < 0.5
            group = np.where(moved, rng.integers(0, people // size, people * 2), group)
        values = PlacedValues(np.arange(len(here)), value[here], tuple(f"v{code}" for code in range(50)))
        found.append(placed(known_as[here], group[here], {"s": values}, "made up", ()))
    return found


def check(console: Console, people: int, earlier: int = 8) -> None:
    """Print what judging a release with all earlier ones costs."""
    releases = made_up_releases(people, earlier + 1, np.random.default_rng(0))
    tree, _ = Exact().build("s", pl.Series([f"v{code}" for code in range(50)]))
    column = SensitiveColumn(tree, np.full(51, people // 50))
    judge_together(releases[:1], releases[1].without(releases[1].groups), [ic.LDiversity(2)], {"s": column})
    begun = time.process_time()
    verdict = judge_together(releases[:-1], releases[-1], [ic.KAnonymity(5), ic.LDiversity(2)], {"s": column})
    spent = time.process_time() - begun
    table = Table(
        title=f"The check of a release of {people:,} people with {earlier} earlier ones", title_justify="left"
    )
    for name in ("CPU seconds", "peak memory (GiB)", "people affected"):
        table.add_column(name, justify="right")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    table.add_row(f"{spent:.1f}", f"{peak:.2f}", f"{len(verdict.affected):,}")
    console.print(table)


def measure(console: Console, rows: int = 1_000_000, people: int = 20_000) -> None:
    """Print all of it."""
    check(console, rows)
    invariance(console, rows)
    composition(console, people)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--people", type=float, default=2e4)
    chosen = parser.parse_args()
    measure(Console(width=160), int(chosen.rows), int(chosen.people))

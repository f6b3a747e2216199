"""People with several rows: a million rows of 200,000 people, Mondrian k = 5, CSV to CSV, and the same without people.

`python -m benchmarks.people` prints it by itself.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

import incrowd as ic
from benchmarks.timing import median_times

ROWS, PEOPLE = 1_000_000, 200_000
QUASI = ["age", "sex", "race", "education"]


def visits_file(folder: Path) -> Path:
    """Write rows of people: what they are stays the same, what happened to them does not."""
    path = folder / f"visits-{ROWS}-{PEOPLE}.csv"
    if not path.exists():
        rng = np.random.default_rng(1)
        people = ic.datasets.census(PEOPLE)
        owner = rng.permutation(np.concatenate([np.arange(PEOPLE), rng.integers(0, PEOPLE, ROWS - PEOPLE)]))
        happened = people["occupation"].gather(rng.integers(0, PEOPLE, ROWS))
        people[owner].with_columns(person=pl.Series(owner), occupation=happened).write_csv(path)
    return path


def publish(path: Path, output: Path, person: str | None) -> None:
    """Publish the file, with people or without."""
    whose = {} if person is None else {"person": person}
    table = ic.read(path, quasi=QUASI, sensitive=["occupation"], others="drop", **whose)
    ic.publish(table, ic.KAnonymity(5)).save(output / "release", force=True)


def measure(console: Console, cache: Path) -> None:
    """Print both, and their ratio."""
    path = visits_file(cache)
    table = Table(title=f"{ROWS:,} rows of {PEOPLE:,} people, CSV to CSV, Mondrian, k = 5", title_justify="left")
    for name in ("", "seconds", "CPU seconds"):
        table.add_column(name, justify="right" if name else "left")
    with tempfile.TemporaryDirectory() as name:
        rows, people = (median_times(partial(publish, path, Path(name), person)) for person in (None, "person"))
    table.add_row("rows", f"{rows.wall:.2f}", f"{rows.cpu:.2f}")
    table.add_row("people", f"{people.wall:.2f}", f"{people.cpu:.2f}")
    table.add_row("ratio", f"{people.wall / rows.wall:.2f}", f"{people.cpu / rows.cpu:.2f}")
    console.print(table)


if __name__ == "__main__":
    folder = Path(tempfile.gettempdir()) / "incrowd-benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    measure(Console(width=160), folder)

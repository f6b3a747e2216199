"""How long an audit with all attacks and metrics takes."""

from __future__ import annotations

import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

import incrowd as ic
from benchmarks.tables import census_file
from benchmarks.timing import median_times
from incrowd.cli._demo_table import HIERARCHIES, QUASI, SENSITIVE

WAYS = {
    "Mondrian, k = 5, l = 3": (ic.Mondrian(), [ic.KAnonymity(5), ic.LDiversity(3)]),
    "Anatomy, l = 5": (ic.Anatomy(), [ic.ProbabilisticLDiversity(5)]),
    "slicing, l = 5": (ic.Slicing(), [ic.SlicedDiversity(5)]),
}


def measure(console: Console, cache: Path, sizes: tuple[int, ...]) -> None:
    """Audit releases of censuses of all sizes up to a million rows, attacks and usefulness apart."""
    table = Table(title="An audit, all attacks and metrics (seconds of CPU, and by the clock)", title_justify="left")
    for name in ("release", "rows", "attacks", "rest", "CPU", "clock"):
        table.add_column(name, justify="left" if name == "release" else "right")
    for rows in (size for size in sizes if size <= 1_000_000):
        people = ic.read(
            census_file(rows, cache).path, quasi=QUASI, sensitive=SENSITIVE, others="drop", hierarchies=HIERARCHIES
        )
        for name, (method, models) in WAYS.items():
            release = ic.publish(people, models, method=method)
            release.audit(learn=False)  # once before it is timed
            marks: dict[str, float] = {}

            def note(stage: str, done: float, marks: dict[str, float] = marks) -> None:
                if stage == "attacking" and done == 1.0:
                    marks["attacks"] = time.process_time()

            start, clock = time.process_time(), time.perf_counter()
            release.audit(progress=note)
            cpu, wall = time.process_time() - start, time.perf_counter() - clock
            attacks = marks["attacks"] - start
            table.add_row(name, f"{rows:,}", f"{attacks:.1f}", f"{cpu - attacks:.1f}", f"{cpu:.1f}", f"{wall:.1f}")
    console.print(table)
    with_kept_columns(console, cache, sizes)


def with_kept_columns(console: Console, cache: Path, sizes: tuple[int, ...]) -> None:
    """Audit saved releases that keep three columns, each unlike the next row's, with the original and without it."""
    table = Table(
        title="An audit of files with three kept columns, k = 5 (seconds of CPU; × is the ratio to the floor)",
        title_justify="left",
    )
    for name in ("rows", "floor", "with the original", "×", "without", "×", "with, by the clock"):
        table.add_column(name, justify="right")
    for rows in (size for size in sizes if size <= 1_000_000):
        original = _with_more_columns(census_file(rows, cache).path, rows, cache)
        people = ic.read(original, quasi=QUASI, sensitive=SENSITIVE, others="keep", drop=["salary"])
        with tempfile.TemporaryDirectory() as place:
            out = Path(place) / "out"
            ic.publish(people, ic.KAnonymity(5)).save(out)

            def audit(truth: Path | None, out: Path = out) -> None:
                ic.open_release(out, original=truth).audit()

            def read_and_write(place: Path = Path(place), original: Path = original) -> None:
                pl.scan_csv(original).sink_csv(place / "floor.csv")

            least = median_times(read_and_write, 1)
            known, alone = (median_times(partial(audit, truth), 1) for truth in (original, None))
        table.add_row(
            f"{rows:,}",
            f"{least.cpu:.2f}",
            f"{known.cpu:.1f}",
            f"{known.cpu / least.cpu:.0f}",
            f"{alone.cpu:.1f}",
            f"{alone.cpu / least.cpu:.0f}",
            f"{known.wall:.1f}",
        )
    console.print(table)


def _with_more_columns(census: Path, rows: int, cache: Path) -> Path:
    """Return a census with a zip code, an employer and a score for each row."""
    path = cache / f"census-kept-{rows}.csv"
    if not path.exists():
        dice = np.random.default_rng(0)
        pl.read_csv(census, infer_schema=False).with_columns(
            zip=pl.Series(dice.integers(10_000, 99_999, rows)),
            employer=pl.Series(dice.zipf(1.3, rows) % 5_000),
            score=pl.Series(dice.normal(size=rows).round(3)),
        ).write_csv(path)
    return path

"""How long an audit with all attacks and metrics takes."""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

import incrowd as ic
from benchmarks.tables import census_file
from incrowd.cli._demo_table import HIERARCHIES, QUASI, SENSITIVE

_WAYS = {
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
        for name, (method, models) in _WAYS.items():
            release = ic.publish(people, models, method=method)
            release.audit(learn=False)  # compiles
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

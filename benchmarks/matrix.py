"""`python -m benchmarks.matrix`: every method on tables of many sizes, each in a process of its own.

A process reads the table and publishes it three times: cold, then with all threads, then with one. The floor is
what Polars takes in the same process to read the file, count its distinct rows and write it. Exponents say how seconds
grow with rows: 1 is in proportion, 2 with the square. What does not end within the limit is called off, and a method
that refuses a table says so.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

import incrowd as ic
from incrowd.errors import IncrowdError

K, L = [ic.KAnonymity(5)], [ic.ProbabilisticLDiversity(3)]
WAYS: dict[str, tuple[Callable[[tuple[str, ...]], Any], list[Any], dict[str, Any]]] = {
    "mondrian": (lambda _: ic.Mondrian(), K, {}),
    "mondrian, 3-diversity": (lambda _: ic.Mondrian(), [*K, *L], {}),
    "infogain-mondrian": (lambda _: ic.InfoGainMondrian(target="ill"), K, {}),
    "full-domain": (lambda _: ic.FullDomain(max_seconds=60), K, {}),
    "full-domain, recode": (lambda _: ic.FullDomain(leftovers="recode", max_seconds=60), K, {}),
    "full-domain, recode, 0.2-closeness": (
        lambda _: ic.FullDomain(leftovers="recode", max_seconds=60),
        [*K, ic.TCloseness(0.2)],
        {},
    ),
    "level-sweep": (lambda _: ic.LevelSweep(max_seconds=60), K, {}),
    "top-down-specialization": (lambda _: ic.TopDownSpecialization(target="ill"), K, {}),
    "bottom-up-generalization": (lambda _: ic.BottomUpGeneralization(target="ill"), K, {}),
    "local-recoding": (lambda _: ic.LocalRecoding(), K, {}),
    "local-suppression": (lambda _: ic.LocalSuppression(), K, {}),
    "microaggregation": (lambda _: ic.Microaggregation(5), K, {}),
    "k-member": (lambda _: ic.KMember(), K, {}),
    "anatomy": (lambda _: ic.Anatomy(), L, {}),
    "slicing": (lambda _: ic.Slicing(), [ic.SlicedDiversity(3)], {}),
    "sdgs": (
        lambda quasi: ic.SDGS(20, levels={name: 1 + (place > 1) for place, name in enumerate(quasi)}),
        [],
        {"sample": 0.1},
    ),
    "diffgen": (lambda _: ic.DiffGen(1), [], {}),
    "consistent-diffgen": (lambda _: ic.ConsistentDiffGen(1), [], {}),
    "marginals": (lambda _: ic.MarginalSynthesis(1), [], {}),
    "adaptive": (lambda _: ic.AdaptiveSynthesis(1, "1e-6"), [], {}),
}
_FANOUT = 4


def write_table(path: Path, rows: int, columns: int) -> None:
    """Write a table of so many quasi-identifiers that depend on each other, every third one a number."""
    dice = np.random.default_rng(columns)
    hidden = dice.random(rows)
    made: dict[str, Any] = {}
    for place in range(columns):
        size = 64 if place % 3 == 0 else _FANOUT ** (1 + place % 3)
        near = np.clip(hidden + 0.15 * dice.standard_normal(rows), 0, 0.999999)
        codes = (near * size).astype(np.int64)
        made[f"q{place}"] = codes if place % 3 == 0 else pl.Series(codes).cast(pl.String)
    made["ill"] = pl.Series((np.clip(hidden + 0.4 * dice.standard_normal(rows), 0, 0.999) * 12).astype(np.int64)).cast(
        pl.String
    )
    pl.DataFrame(made).write_parquet(path)


def open_table(path: Path, columns: int) -> ic.Table:
    """Open such a table; its domains are declared, as differential privacy needs them."""
    trees: dict[str, Any] = {"ill": ic.Categories.from_tree([str(code) for code in range(12)])}
    for place in range(columns):
        if place % 3 == 0:
            trees[f"q{place}"] = ic.Intervals(widths=(4, 16), lower=0, upper=64)
        else:
            trees[f"q{place}"] = ic.Categories.from_tree(_branches(list(range(_FANOUT ** (1 + place % 3)))))
    return ic.read(path, quasi=[f"q{place}" for place in range(columns)], sensitive=["ill"], hierarchies=trees)


def _branches(codes: list[int]) -> Any:
    """Return codes as a tree of which every node has four children."""
    if len(codes) <= _FANOUT:
        return [str(code) for code in codes]
    step = len(codes) // _FANOUT
    return {
        f"{codes[at]}-{codes[at + step - 1]}": _branches(codes[at : at + step]) for at in range(0, len(codes), step)
    }


def one(way: str, path: Path, columns: int) -> dict[str, Any]:
    """Measure one way on one table, in this process."""
    start = time.perf_counter()
    frame = pl.read_parquet(path)
    frame.group_by(frame.columns).len()
    with tempfile.TemporaryDirectory() as place:
        frame.write_csv(Path(place) / "floor.csv")
    floor = time.perf_counter() - start
    del frame
    return {"floor": floor} | publish_again(way, open_table(path, columns))


def publish_again(way: str, table: ic.Table) -> dict[str, Any]:
    """Publish a table in one way, three times; return the seconds, and the most memory that it took."""
    found: dict[str, Any] = {}
    make, models, more = WAYS[way]
    method = make(tuple(table.schema.quasi))
    for name, threads in (("cold", None), ("warm", None), ("one thread", 1)):
        if name == "warm" and found["cold"][0] > 60:
            break
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            ic.publish(table, models, method=method, seed=1, threads=threads, **more)
        except IncrowdError as refused:
            return found | {"refused": str(refused).split(".")[0], "seconds": time.perf_counter() - wall}
        found[name] = time.perf_counter() - wall, time.process_time() - cpu
    found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return found


def measured(way: str, path: Path, columns: int, limit: float) -> dict[str, Any]:
    """Measure one way in a process of its own, for so many seconds at most."""
    return in_a_process(["-m", "benchmarks.matrix", "--one", way, str(path), str(columns)], limit)


def in_a_process(arguments: list[str], limit: float) -> dict[str, Any]:
    """Run a part of a benchmark in a process of its own; return what it prints last."""
    command = [sys.executable, *arguments]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return {"called off": limit}
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1:]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def cells(found: dict[str, Any], earlier: tuple[int, dict[str, Any]] | None, rows: int) -> list[str]:
    """Return a line of the table."""
    if "cold" not in found:
        if "called off" in found:
            return ["", f"more than {found['called off']:.0f} s"]
        if "refused" in found:
            return [f"{found['floor']:.2f}", f"refused after {found['seconds']:.2f} s: {found['refused'][:60]}"]
        return ["", f"failed: {found['failed']}"]
    warm = found.get("warm", found["cold"])
    alone = found.get("one thread")
    exponent = ""
    if earlier is not None and "cold" in earlier[1]:
        before = earlier[1].get("warm", earlier[1]["cold"])
        exponent = f"{math.log(warm[0] / before[0]) / math.log(rows / earlier[0]):.2f}"
    return [
        f"{found['floor']:.2f}",
        f"{found['cold'][0]:.2f}",
        f"{warm[0]:.2f}",
        f"{warm[0] / found['floor']:.1f}",
        f"{warm[1]:.2f}",
        "" if alone is None else f"{alone[0]:.2f}",
        exponent,
        f"{found['memory'] / 1e9:.1f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, nargs="*", default=[1e5, 1e6, 1e7])
    parser.add_argument("--columns", type=int, nargs="*", default=[8, 20, 60])
    parser.add_argument("--ways", nargs="*", choices=WAYS, default=list(WAYS))
    parser.add_argument("--limit", type=float, default=300, help="seconds that a process may take")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "incrowd-benchmarks")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        way, path, columns = chosen.one
        print(json.dumps(one(way, Path(path), int(columns))))
        return
    chosen.cache.mkdir(parents=True, exist_ok=True)
    console = Console(width=160)
    for columns in chosen.columns:
        table = Table(title=f"{columns} quasi-identifiers (seconds; × is the ratio to the floor)", title_justify="left")
        names = ("way", "rows", "floor", "first", "all threads", "×", "CPU", "one thread", "exponent", "GB")
        for name in names:
            table.add_column(name, justify="left" if name == "way" else "right")
        for way in chosen.ways:
            earlier = None
            for rows in map(int, chosen.rows):
                path = chosen.cache / f"wide-{rows}-{columns}.parquet"
                if not path.exists():
                    write_table(path, rows, columns)
                found = measured(way, path, columns, chosen.limit)
                table.add_row(way, f"{rows:,}", *cells(found, earlier, rows))
                earlier = rows, found
                console.print(f"{columns} columns, {way}, {rows:,} rows", style="dim")
                if "called off" in found:
                    break  # more rows take longer
        console.print(table)


if __name__ == "__main__":
    main()

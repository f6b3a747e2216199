"""`python -m benchmarks.shapes`: every method on tables of the same size that differ in one thing.

A table may have a column of very many values, a deep hierarchy, or thousands of sensitive values. Each is published in
a process of its own. × is the ratio to the plain table, and the exponent says how seconds grow with rows: 1 is in
proportion, 2 with the square. What does not end within the limit is called off, and a method that refuses a table says
so.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

import incrowd as ic
from benchmarks.matrix import WAYS, in_a_process, publish_again

Near = Callable[[int], Any]
"""So many values that depend on each other across columns."""
Column = tuple[Any, ic.Hierarchy]


def _numbers(near: Near, size: int, *widths: int) -> Column:
    return near(size), ic.Intervals(widths=widths, lower=0, upper=size)


def _names(near: Near, size: int, *widths: int) -> Column:
    paths = tuple((str(code), *(f"{width}: {code // width}" for width in widths)) for code in range(size))
    return pl.Series(near(size)).cast(pl.String), ic.Categories(paths)


def _same(near: Near) -> Column:
    _, tree = _numbers(near, 128, 4, 16)
    return np.zeros_like(near(1)), tree


SHAPES: dict[str, dict[str, Callable[[Near], Column]]] = {
    "plain": {},
    "16,384 values in halves": {"q2": lambda near: _numbers(near, 2**14, *(2**step for step in range(1, 14)))},
    "50,000 values in tens": {"q2": lambda near: _numbers(near, 50_000, 10, 100, 1000, 10_000)},
    "10,000 names in tens": {"q2": lambda near: _names(near, 10_000, 10, 100, 1000)},
    "2,000 sensitive values": {"ill": lambda near: _names(near, 2_000, 100)},
    "one value in each column": {f"q{place}": _same for place in range(4)},
}
_PLAIN: dict[str, Callable[[Near], Column]] = {
    "q0": lambda near: _numbers(near, 64, 4, 16),
    "q1": lambda near: _names(near, 4, 2),
    "q2": lambda near: _numbers(near, 128, 4, 16),
    "q3": lambda near: _names(near, 16, 4),
    "ill": lambda near: _names(near, 12, 4),
}


def open_table(shape: str, rows: int) -> ic.Table:
    """Make a table of some shape; its domains are declared, as differential privacy needs them."""
    dice = np.random.default_rng(rows)
    hidden = dice.random(rows)

    def near(size: int) -> Any:
        return (np.clip(hidden + 0.2 * dice.standard_normal(rows), 0, 0.999999) * size).astype(np.int64)

    made = {name: make(near) for name, make in (_PLAIN | SHAPES[shape]).items()}
    return ic.read(
        pl.DataFrame({name: values for name, (values, _) in made.items()}),
        quasi=[name for name in made if name != "ill"],
        sensitive=["ill"],
        hierarchies={name: tree for name, (_, tree) in made.items()},
    )


def cells(
    found: dict[str, Any], plain: dict[str, Any], fewer: tuple[int, dict[str, Any]] | None, rows: int
) -> list[str]:
    """Return a line of the table."""
    if "cold" not in found:
        if "called off" in found:
            return ["", "", "", f"more than {found['called off']:.0f} s"]
        return ["", "", "", found.get("refused") or f"failed: {found['failed']}"]
    seconds = found.get("warm", found["cold"])[0]
    ratio = f"{seconds / plain.get('warm', plain['cold'])[0]:.1f}" if "cold" in plain else ""
    exponent = ""
    if fewer is not None and "cold" in fewer[1]:
        before = fewer[1].get("warm", fewer[1]["cold"])[0]
        exponent = f"{math.log(seconds / before) / math.log(rows / fewer[0]):.2f}"
    return [f"{seconds:.2f}", ratio, exponent, f"{found['memory'] / 1e9:.1f} GB"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, nargs="*", default=[1e5, 4e5])
    parser.add_argument("--ways", nargs="*", choices=WAYS, default=list(WAYS))
    parser.add_argument("--shapes", nargs="*", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--limit", type=float, default=120, help="seconds that a process may take")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        way, shape, rows = chosen.one
        print(json.dumps(publish_again(way, open_table(shape, int(rows)))))
        return
    console = Console(width=160)
    table = Table(title="one thing is different (seconds; × is the ratio to the plain table)", title_justify="left")
    for name in ("way", "shape", "rows", "seconds", "×", "exponent", ""):
        table.add_column(name, justify="left" if name in ("way", "shape", "") else "right")
    for way in chosen.ways:
        plain: dict[int, dict[str, Any]] = {}
        for shape in dict.fromkeys(["plain", *chosen.shapes]):
            fewer = None
            for rows in map(int, chosen.rows):
                asked = ["-m", "benchmarks.shapes", "--one", way, shape, str(rows)]
                found = in_a_process(asked, chosen.limit)
                plain.setdefault(rows, found)
                table.add_row(way, shape, f"{rows:,}", *cells(found, plain[rows], fewer, rows))
                fewer = rows, found
                console.print(f"{way}, {shape}, {rows:,} rows", style="dim")
                if "called off" in found:
                    break  # more rows take longer
        table.add_section()
    console.print(table)


if __name__ == "__main__":
    main()

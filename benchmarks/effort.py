"""`python -m benchmarks.effort`: information loss of Adult against the seconds that people may move between groups.

Methods with a measure of their own are held to that, too. `INCROWD_THREADS=1` shows what a single core finds.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

import incrowd as ic
from benchmarks.generalization import MODELS
from benchmarks.loss import ROWS
from benchmarks.tables import ADULT_QUASI, data_folder
from incrowd.common.progress import silent
from incrowd.core.method import Moves
from incrowd.engines.lost import Lost, lost_of
from incrowd.forms.generalized import Generalized
from incrowd.hierarchies.categories import Categories
from incrowd.methods.improving import improve
from incrowd.metrics.ncp import GlobalCertaintyPenalty

METHODS: dict[str, ic.Method] = {
    "full-domain, then local": ic.FullDomain(leftovers="recode"),
    "Mondrian, nodes": ic.Mondrian(labels="hierarchy"),
    "Mondrian, regions": ic.Mondrian(),
    "k-member": ic.KMember(),
    "InfoGain Mondrian": ic.InfoGainMondrian(),
    "microaggregation": ic.Microaggregation(),
    "local suppression": ic.LocalSuppression(),
}
MEASURED = ("GCP", "its own measure")


def measure(
    console: Console, folder: Path, seconds: tuple[float, ...], methods: tuple[str, ...], models: tuple[str, ...]
) -> None:
    """Print one line for each method, set of models and time; every release is verified."""
    table = Table(title=f"Moves between groups of Adult, {ROWS:,} rows, 8 columns", title_justify="left")
    for name in ("models", "method", "seconds", "s more", "CPU s more", *MEASURED, "groups"):
        table.add_column(name, justify="left" if name in ("models", "method", MEASURED[1]) else "right")
    for asked in models:
        for described in methods:
            _add_lines(table, folder, seconds, asked, described)
    console.print(table)


def _add_lines(table: Table, folder: Path, seconds: tuple[float, ...], asked: str, described: str) -> None:
    method, models = METHODS[described], MODELS[asked]
    opened = _adult(folder, numbers=method.shows == "mean")
    tally, moves = opened.engine.count(opened.schema).tally, method.moves
    assert moves is not None
    found = method.search(tally, opened.schema, models, rng=np.random.default_rng(0), progress=silent)
    for limit in (0.0, *seconds):
        clock, start, better = time.monotonic(), time.process_time(), found
        if limit:
            better = improve(tally, opened.schema, models, found, moves, seconds=limit, progress=silent)
        taken, spent = time.monotonic() - clock, time.process_time() - start
        form = Generalized.of(tally, opened.schema, better)
        form.verify(models, tally)
        gcp = GlobalCertaintyPenalty().measure(tally, form)
        own = _own_measure(lost_of(form, better, moves), moves, tally.rows)
        line = (
            asked,
            described,
            f"{limit:g}",
            f"{taken:.1f}",
            f"{spent:.1f}",
            f"{gcp:.4f}",
            own,
            f"{len(form.shown):,}",
        )
        table.add_row(*line)


def _adult(folder: Path, *, numbers: bool) -> ic.Table:
    """Open Adult with its eight hierarchies or, for methods that publish means, with ages as numbers."""
    people = pl.read_csv(folder / "adult" / "adult.csv", infer_schema=False).head(ROWS)
    named = [name for name in ADULT_QUASI if not (numbers and name == "age")]
    trees = {name: Categories.read_csv(folder / "adult" / f"hierarchy_{name}.csv") for name in named}
    if numbers:
        people = people.with_columns(pl.col("age").cast(pl.Int64))
    opened = ic.read(people, quasi=ADULT_QUASI, sensitive=["income"], others="drop", hierarchies=trees)
    return replace(opened, schema=replace(opened.schema, show={"age": "mean"})) if numbers else opened


def _own_measure(lost: Lost, moves: Moves, rows: int) -> str:
    if moves.keeps_classes:
        return f"{lost.unsure / rows / math.log(2):.4f} bits unsure of the class"
    if moves.loss == "cells":
        return f"{lost.loss * rows:,.0f} cells suppressed"
    return f"squared error {lost.loss:.4f}" if moves.loss == "squared-error" else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, nargs="*", default=[1.0, 3.0, 10.0, 60.0])
    parser.add_argument("--methods", nargs="*", choices=[*METHODS], default=["full-domain, then local"])
    parser.add_argument("--models", nargs="*", choices=[*MODELS], default=[*MODELS])
    chosen = parser.parse_args()
    console, folder = Console(width=150), data_folder()
    if folder is None:
        console.print("Adult is not at hand (INCROWD_DATA).")
    else:
        measure(console, folder, tuple(chosen.seconds), tuple(chosen.methods), tuple(chosen.models))


if __name__ == "__main__":
    main()

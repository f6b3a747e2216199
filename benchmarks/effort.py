"""`python -m benchmarks.effort`: information loss of Adult against the seconds that people may move between groups."""

from __future__ import annotations

import argparse
import time
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
from incrowd.core.recoding import Recoding
from incrowd.forms.generalized import Generalized
from incrowd.hierarchies.categories import Categories
from incrowd.methods.improving import improve
from incrowd.metrics.ncp import GlobalCertaintyPenalty

METHODS: dict[str, ic.Method] = {
    "full-domain, then local": ic.FullDomain(leftovers="recode"),
    "Mondrian, nodes": ic.Mondrian(labels="hierarchy"),
    "Mondrian, regions": ic.Mondrian(),
    "k-member": ic.KMember(),
}


def measure(console: Console, folder: Path, seconds: tuple[float, ...], methods: tuple[str, ...]) -> None:
    """Print one line for each method, set of models and time; every release is verified."""
    people = pl.read_csv(folder / "adult" / "adult.csv", infer_schema=False).head(ROWS)
    trees = {name: Categories.read_csv(folder / "adult" / f"hierarchy_{name}.csv") for name in ADULT_QUASI}
    opened = ic.read(people, quasi=ADULT_QUASI, sensitive=["income"], others="drop", hierarchies=trees)
    tally = opened.engine.count(opened.schema).tally
    table = Table(title=f"Moves between groups of Adult, {ROWS:,} rows, 8 hierarchies", title_justify="left")
    for name in ("models", "method", "seconds", "CPU s more", "GCP", "groups"):
        table.add_column(name, justify="left" if name in ("models", "method") else "right")
    for asked, models in MODELS.items():
        for described in methods:
            method = METHODS[described]
            found = method.search(tally, opened.schema, models, rng=np.random.default_rng(0), progress=silent)
            for limit in (0.0, *seconds):
                start, better = time.process_time(), found
                if limit and method.moves is not None:
                    better = improve(
                        tally, opened.schema, models, found, method.moves, seconds=limit, progress=silent
                    )  # fmt: skip
                spent = time.process_time() - start
                gcp, groups = _measured(better, opened, tally, models)
                table.add_row(asked, described, f"{limit:g}", f"{spent:.1f}", f"{gcp:.4f}", f"{groups:,}")
    console.print(table)


def _measured(found: Recoding, opened: ic.Table, tally: ic.Tally, models: list[ic.Model]) -> tuple[float, int]:
    form = Generalized.of(tally, opened.schema, found)
    form.verify(models, tally)
    return GlobalCertaintyPenalty().measure(tally, form), len(form.shown)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, nargs="*", default=[1.0, 3.0, 10.0, 60.0])
    parser.add_argument("--methods", nargs="*", choices=[*METHODS], default=["full-domain, then local"])
    chosen = parser.parse_args()
    console, folder = Console(width=120), data_folder()
    if folder is None:
        console.print("Adult is not at hand (INCROWD_DATA).")
    else:
        measure(console, folder, tuple(chosen.seconds), tuple(chosen.methods))


if __name__ == "__main__":
    main()

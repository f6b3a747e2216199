"""The searches over level vectors on Adult: CPU seconds after warm-up, rows withheld, loss."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

import incrowd as ic
from benchmarks.loss import ROWS
from benchmarks.tables import ADULT_QUASI
from incrowd.common.progress import silent
from incrowd.forms.generalized import Generalized
from incrowd.hierarchies.categories import Categories
from incrowd.metrics.discernibility import Discernibility
from incrowd.metrics.ncp import GlobalCertaintyPenalty

MODELS: dict[str, list[ic.Model]] = {
    "k = 5": [ic.KAnonymity(5)],
    "k = 5, 2-diverse": [ic.KAnonymity(5), ic.LDiversity(2)],
    "k = 5, 0.2-close": [ic.KAnonymity(5), ic.TCloseness(0.2)],
}
METHODS: dict[str, ic.Method] = {
    "full-domain, 5 % limit": ic.FullDomain(max_withheld=0.05),
    "full-domain, no limit": ic.FullDomain(max_withheld=1.0),
    "full-domain, then local": ic.FullDomain(leftovers="recode"),
    "level sweep, nodes": ic.LevelSweep(),
    "level sweep, tight": ic.LevelSweep(labels="tight"),
    "Mondrian, nodes": ic.Mondrian(labels="hierarchy"),
    "Mondrian, tight": ic.Mondrian(labels="tight"),
}


def measure(console: Console, folder: Path) -> None:
    """Print one line per method and set of models."""
    people = pl.read_csv(folder / "adult" / "adult.csv", infer_schema=False).head(ROWS)
    trees = {name: Categories.read_csv(folder / "adult" / f"hierarchy_{name}.csv") for name in ADULT_QUASI}
    opened = ic.read(people, quasi=ADULT_QUASI, sensitive=["income"], others="drop", hierarchies=trees)
    tally = opened.engine.count(opened.schema).tally
    table = Table(title=f"Generalization of Adult, {ROWS:,} rows, 8 hierarchies", title_justify="left")
    for name in ("models", "method", "CPU s", "withheld", "GCP", "groups", "discernibility"):
        table.add_column(name, justify="left" if name in ("models", "method") else "right")
    for asked, models in MODELS.items():
        for described, method in METHODS.items():
            if isinstance(method, ic.LevelSweep) and len(models) > 1:
                continue  # it suits k-anonymity; see its docstring
            for _ in range(2):
                start = time.process_time()
                found = method.search(tally, opened.schema, models, rng=np.random.default_rng(0), progress=silent)
                seconds = time.process_time() - start
            form = Generalized.of(tally, opened.schema, found)
            gcp = GlobalCertaintyPenalty().measure(tally, form)
            discernibility = Discernibility().measure(tally, form)
            table.add_row(
                asked,
                described,
                f"{seconds:.2f}",
                f"{form.withheld / form.rows_in:.1%}",
                f"{gcp:.4f}",
                f"{len(form.shown):,}",
                f"{discernibility:,.0f}",
            )
    console.print(table)

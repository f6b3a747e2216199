"""Information loss on Adult: 8 quasi-identifiers, first 30,162 rows, k = 5 and 10."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from rich.console import Console
from rich.table import Table

import incrowd as ic
from benchmarks.tables import ADULT_QUASI, adult_hierarchies

ROWS = 30_162


def measure(console: Console, folder: Path) -> None:
    """Print one line per variant and k."""
    people = pl.read_csv(folder / "adult" / "adult.csv", infer_schema=False).head(ROWS)
    table = Table(title=f"Information loss on Adult, {ROWS:,} rows, 8 quasi-identifiers", title_justify="left")
    for name in (
        "hierarchies",
        "cuts",
        "labels",
        "k",
        "GCP",
        "average group",
        "groups",
        "discernibility",
    ):
        table.add_column(name, justify="left" if name in ("hierarchies", "cuts", "labels") else "right")
    for described, hierarchies in (("none", {}), ("ARX's, age free", adult_hierarchies(folder))):
        opened = ic.read(people, quasi=ADULT_QUASI, sensitive=["income"], others="drop", hierarchies=hierarchies)
        for cuts in ("strict", "relaxed"):
            for labels in ("region", "tight", "hierarchy"):
                for k in (5, 10):
                    release = ic.publish(opened, ic.KAnonymity(k), method=ic.Mondrian(cuts=cuts, labels=labels))
                    loss = release.summary["loss"]
                    table.add_row(
                        described,
                        cuts,
                        labels,
                        str(k),
                        f"{loss['gcp']:.4f}",
                        f"{loss['average group size']:.2f}",
                        f"{len(release.generalized.shown):,}",
                        f"{loss['discernibility']:,.0f}",
                    )
    console.print(table)

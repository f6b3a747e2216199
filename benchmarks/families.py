"""Other families than generalization, CSV to CSV: against the time Polars takes to read and write the same file."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

import incrowd as ic
from benchmarks.speed import floor
from benchmarks.tables import Measured, census_file
from benchmarks.timing import median_times
from incrowd.hierarchies.hierarchy import Hierarchy

LEVELS = {"age": 2, "education": 1, "birth_place": 1, "marital": 1, "race": 1}


def open_table(measured: Measured) -> ic.Table:
    """Open a census whose domains are declared, as differential privacy needs them."""
    hierarchies: dict[str, Hierarchy] = {
        **measured.hierarchies,
        "age": ic.Intervals(widths=(5, 10, 20, 40), lower=15, upper=95),
        "occupation": ic.Categories.from_tree(ic.datasets.CENSUS_TREES["occupation"]),
    }
    return ic.read(
        measured.path,
        quasi=measured.quasi,
        sensitive=measured.sensitive,
        drop=measured.dropped,
        hierarchies=hierarchies,
    )


def anatomy(measured: Measured, output: Path) -> None:
    release = ic.publish(open_table(measured), ic.ProbabilisticLDiversity(5), method=ic.Anatomy())
    release.save(output / "release", force=True)


def slicing(measured: Measured, output: Path) -> None:
    release = ic.publish(open_table(measured), ic.SlicedDiversity(5), method=ic.Slicing())
    release.save(output / "release", force=True)


def sdgs(measured: Measured, output: Path) -> None:
    release = ic.publish(open_table(measured), method=ic.SDGS(20, levels=LEVELS), sample=0.1)
    release.save(output / "release", force=True)


def consistent_diffgen(measured: Measured, output: Path) -> None:
    release = ic.publish(open_table(measured), method=ic.ConsistentDiffGen(1, steps=16, utility="max"))
    release.save(output / "release", force=True)


WAYS = {
    "Anatomy, l = 5": anatomy,
    "slicing, l = 5": slicing,
    "SDGS, k = 20, β = 0.1": sdgs,
    "Consistent DiffGen, ε = 1, 16 steps": consistent_diffgen,
}


def measure(console: Console, cache: Path, sizes: tuple[int, ...]) -> None:
    """Print one line per way and size."""
    table = Table(title="Census, CSV to CSV (seconds; × is the ratio to the floor)", title_justify="left")
    for name in ("way", "rows", "floor", "publish", "×", "floor, CPU", "publish, CPU", "×, CPU"):
        table.add_column(name, justify="left" if name == "way" else "right")
    for measured in (census_file(rows, cache) for rows in sizes):
        times = 3 if measured.rows <= 1_000_000 else 1
        with tempfile.TemporaryDirectory() as name:
            output = Path(name)
            least = median_times(partial(floor, measured, output), times)
            for way, publish in WAYS.items():
                taken = median_times(partial(publish, measured, output), times)
                pairs = ((least.wall, taken.wall), (least.cpu, taken.cpu))
                cells = [cell for low, high in pairs for cell in (f"{low:.2f}", f"{high:.2f}", f"{high / low:.1f}")]
                table.add_row(way, f"{measured.rows:,}", *cells)
    console.print(table)

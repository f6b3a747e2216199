"""More rows than memory: a folder of Parquet published to Parquet by Mondrian, in a process of its own.

Rows are generated in parts of a million, so that neither making nor publishing them holds the table. `--keep` leaves
the parts for another run.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.table import Table

from benchmarks.tables import CENSUS_QUASI
from benchmarks.timing import run_process
from incrowd.datasets import CENSUS_AGE_WIDTHS, CENSUS_TREES, census
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.intervals import Intervals

PART_ROWS = 1_000_000
K = 5


def census_folder(rows: int, cache: Path) -> Path:
    """Return a folder of Parquet files with so many people."""
    folder = cache / f"census-{rows}"
    folder.mkdir(parents=True, exist_ok=True)
    for part in range(-(-rows // PART_ROWS)):
        path = folder / f"part-{part:05}.parquet"
        if not path.exists():
            people = census(min(PART_ROWS, rows - part * PART_ROWS), seed=part)
            people.write_parquet(path.with_suffix(".new"))
            path.with_suffix(".new").rename(path)
    return folder


def publish(source: str, target: str) -> None:
    """Publish a folder, and say how many tuples and groups there were."""
    import incrowd as ic

    trees: dict[str, Hierarchy] = {
        "age": Intervals(widths=CENSUS_AGE_WIDTHS),
        **{name: Categories.from_tree(CENSUS_TREES[name]) for name in CENSUS_QUASI if name != "age"},
    }
    table = ic.read(source, quasi=CENSUS_QUASI, sensitive=["occupation"], others="drop", hierarchies=trees)
    release = ic.publish(table, ic.KAnonymity(K))
    release.save(target, format="parquet", force=True)
    told = {"tuples": len(release.form.tally), "groups": len(release.form.group_sizes), "cpu": time.process_time()}
    Path(f"{target}.told").write_text(json.dumps(told))


def measure(console: Console, cache: Path, sizes: tuple[int, ...], *, keep: bool = False) -> None:
    """Print time and memory by number of rows."""
    shown = Table(title=f"Census, Mondrian k = {K}, a folder of Parquet to Parquet, in a process of its own")
    names = (
        "rows",
        "distinct tuples",
        "groups",
        "seconds",
        "processor seconds",
        "of them per million rows",
        "peak memory",
        "published",
    )
    for name in names:
        shown.add_column(name, justify="right")
    for rows in sizes:
        folder = census_folder(rows, cache)
        target = cache / f"scale-{rows}"
        shutil.rmtree(target, ignore_errors=True)
        took = run_process(["benchmarks.scale", str(folder), str(target)])
        told = json.loads(Path(f"{target}.told").read_text())
        published = pl.scan_parquet(target / "data.parquet").select(pl.len()).collect().item()
        shown.add_row(
            f"{rows:,}",
            f"{told['tuples']:,}",
            f"{told['groups']:,}",
            f"{took.seconds:.1f}",
            f"{told['cpu']:.1f}",
            f"{told['cpu'] / rows * 1e6:.2f}",
            f"{took.peak_bytes / 2**30:.2f} GiB",
            f"{published:,}",
        )
        shutil.rmtree(target)
        Path(f"{target}.told").unlink()
        if not keep:
            shutil.rmtree(folder)
    console.print(shown)


def main() -> None:
    """Measure from the command line: `python -m benchmarks.scale --rows 1e6 1e7 1e8`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, nargs="*", default=[1e6, 1e7])
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "incrowd-benchmarks")
    parser.add_argument("--keep", action="store_true", help="leave the generated rows for another run")
    chosen = parser.parse_args()
    measure(Console(width=160), chosen.cache, tuple(int(rows) for rows in chosen.rows), keep=chosen.keep)


if __name__ == "__main__":
    if len(sys.argv) == 3 and not sys.argv[1].startswith("-"):
        publish(*sys.argv[1:])
    else:
        main()

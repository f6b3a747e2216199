"""CSV in to CSV out, Mondrian k = 5, against the time Polars takes to read and write the same file."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.table import Table

import incrowd as ic
from benchmarks.tables import Measured, census_file, data_folder, scaled_adult
from benchmarks.timing import median_seconds, run_process


def floor(measured: Measured, output: Path) -> None:
    """Read the file and write it again, and nothing else."""
    separator = ";" if measured.name.startswith("Adult") else ","
    pl.read_csv(measured.path, separator=separator).write_csv(output / "floor.csv")


def open_table(measured: Measured) -> ic.Table:
    return ic.read(
        measured.path,
        quasi=measured.quasi,
        sensitive=measured.sensitive,
        drop=measured.dropped,
        hierarchies=measured.hierarchies,
    )


def publish(measured: Measured, output: Path) -> None:
    ic.publish(open_table(measured), ic.KAnonymity(5)).save(output / "release", force=True)


def search_seconds(measured: Measured) -> float:
    """Time the search alone, on a tally that is there already."""
    import numpy as np

    from incrowd.common.progress import silent

    table = open_table(measured)
    tally = table.engine.count(table.schema).tally
    method, rng = ic.Mondrian(), np.random.default_rng(0)
    return median_seconds(lambda: method.search(tally, table.schema, [ic.KAnonymity(5)], rng=rng, progress=silent))


def write_recipe(measured: Measured, folder: Path) -> Path:
    release = ic.publish(open_table(measured), ic.KAnonymity(5))
    recipe = folder / "recipe.toml"
    recipe.write_text(ic.Recipe.of(release, format="csv").relative_to(folder).to_toml(), encoding="utf-8")
    return recipe


def measure(console: Console, cache: Path, sizes: tuple[int, ...]) -> None:
    """Print one line per table."""
    table = Table(title="CSV to CSV, Mondrian, k = 5 (seconds; × is the ratio to the floor)", title_justify="left")
    for name in ("table", "rows", "floor", "publish", "×", "search", "process", "second run", "peak MB"):
        table.add_column(name, justify="left" if name == "table" else "right")
    folder = data_folder()
    tables = [scaled_adult(folder, 1_000_000, cache)] if folder and 1_000_000 in sizes else []
    tables += [census_file(rows, cache) for rows in sizes]
    for measured in tables:
        if measured is None:
            continue
        with tempfile.TemporaryDirectory() as name:
            output = Path(name)
            times = 3 if measured.rows <= 1_000_000 else 1
            floor_seconds = median_seconds(partial(floor, measured, output), times)
            seconds = median_seconds(partial(publish, measured, output), times)
            search = search_seconds(measured)
            recipe = write_recipe(measured, output)
            command = ["incrowd", "publish", str(recipe), "--output", str(output / "again"), "--force", "--quiet"]
            first = run_process(command)
            warm = run_process(command)
        table.add_row(
            measured.name,
            f"{measured.rows:,}",
            f"{floor_seconds:.2f}",
            f"{seconds:.2f}",
            f"{seconds / floor_seconds:.1f}",
            f"{search:.3f}",
            f"{first.seconds:.1f}",
            f"{warm.seconds:.1f}",
            f"{warm.peak_bytes / 1e6:,.0f}",
        )
    console.print(table)

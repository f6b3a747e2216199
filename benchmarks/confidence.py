"""Expected confidence by local recoding: time against rows, and the loss on Adult beside other ways to the same end."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import incrowd as ic
from benchmarks.speed import floor, open_table
from benchmarks.tables import Measured, adult_hierarchies, census_file, data_folder
from benchmarks.timing import median_seconds
from incrowd.common.progress import silent
from incrowd.metrics.average_group_size import AverageGroupSize
from incrowd.metrics.distortion import Distortion
from incrowd.metrics.ncp import GlobalCertaintyPenalty
from incrowd.metrics.withheld_share import WithheldShare

ADULT_QUASI = ("age", "sex", "education", "marital-status", "race", "native-country")
METHOD = ic.LocalRecoding(min_levels={"age": 1})
RATE = 0.9


def publish(measured: Measured, output: Path) -> None:
    release = ic.publish(open_table(measured), ic.ExpectedConfidence(), method=METHOD, sample=RATE)
    release.save(output / "release", force=True)


def search_seconds(measured: Measured) -> float:
    """Time the search alone, on a tally that is there already."""
    table = open_table(measured)
    tally = table.engine.count(table.schema).tally
    rng = np.random.default_rng(0)
    model = ic.ExpectedConfidence()
    return median_seconds(lambda: METHOD.search(tally, table.schema, [model], rng=rng, progress=silent))


def measure(console: Console, cache: Path, sizes: tuple[int, ...]) -> None:
    """Print one line per size of the census, and one per way to satisfy the criterion on Adult."""
    table = Table(
        title=f"Expected confidence, local recoding, β = {RATE}, δ' = 0.6 (seconds; × is the ratio to the floor)",
        title_justify="left",
    )
    for name in ("rows", "distinct tuples", "floor", "publish", "×", "search", "search per million rows"):
        table.add_column(name, justify="right")
    for measured in (census_file(rows, cache) for rows in sizes):
        times = 3 if measured.rows <= 1_000_000 else 1
        with tempfile.TemporaryDirectory() as name:
            output = Path(name)
            floor_seconds = median_seconds(partial(floor, measured, output), times)
            seconds = median_seconds(partial(publish, measured, output), times)
        opened = open_table(measured)
        tuples = len(opened.engine.count(opened.schema).tally)
        search = search_seconds(measured)
        table.add_row(
            f"{measured.rows:,}",
            f"{tuples:,}",
            f"{floor_seconds:.2f}",
            f"{seconds:.2f}",
            f"{seconds / floor_seconds:.1f}",
            f"{search:.2f}",
            f"{search / measured.rows * 1e6:.2f}",
        )
    console.print(table)
    folder = data_folder()
    if folder is not None:
        _measure_adult(console, folder)


def _measure_adult(console: Console, folder: Path) -> None:
    hierarchies = {name: tree for name, tree in adult_hierarchies(folder).items() if name in ADULT_QUASI}
    hierarchies["age"] = ic.Categories.read_csv(folder / "adult" / "hierarchy_age.csv")
    opened = ic.read(
        folder / "adult" / "adult.csv",
        quasi=ADULT_QUASI,
        sensitive=["occupation"],
        others="drop",
        hierarchies=hierarchies,
    )
    table = Table(title="The same criterion on Adult, 45,222 rows, six quasi-identifiers, β = 0.9")
    for name in ("method", "withheld", "distortion", "GCP", "mean group"):
        table.add_column(name, justify="left" if name == "method" else "right")
    ways: dict[str, ic.Method] = {
        "local recoding, left domain size, δ' = 0.6": METHOD,
        "local recoding, least loss, δ' = 0.6": ic.LocalRecoding(min_levels={"age": 1}, column_choice="least-loss"),
        "local recoding, left domain size, δ' = 1": ic.LocalRecoding(min_levels={"age": 1}, max_distortion=1),
        "local recoding, least loss, δ' = 1": ic.LocalRecoding(
            min_levels={"age": 1}, max_distortion=1, column_choice="least-loss"
        ),
        "Mondrian, nodes": ic.Mondrian(labels="hierarchy"),
        "Mondrian, regions": ic.Mondrian(),
        "full domain, 5 % withheld": ic.FullDomain(max_withheld=0.05, min_levels={"age": 1}),
    }
    for name, method in ways.items():
        release = ic.publish(opened, ic.ExpectedConfidence(), method=method, sample=RATE, seed=1)
        form = release.generalized
        table.add_row(
            name,
            f"{WithheldShare().measure(form.tally, form):.2%}",
            f"{Distortion(published_only=True).measure(form.tally, form):.3f}",
            f"{GlobalCertaintyPenalty().measure(form.tally, form):.4f}",
            f"{AverageGroupSize().measure(form.tally, form):.1f}",
        )
    console.print(table)

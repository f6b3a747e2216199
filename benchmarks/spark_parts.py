"""What a release in parts loses on Spark, against the same method on one machine that holds all of the table.

`python -m benchmarks.spark_parts --rows 1e6 --part 1e5`; needs PySpark and Java. Nearly all rows are distinct tuples:
people of the census, each with one of 1,000 places that tell something of age. The driver is to hold as many tuples as
a part has.
"""

from __future__ import annotations

import argparse
import os
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
from benchmarks.tables import CENSUS_QUASI

K = 5
CENSUS_ROWS = 1_000_000
METHODS: dict[str, Callable[[], Any]] = {
    "mondrian": ic.Mondrian,
    "mondrian, relaxed": lambda: ic.Mondrian(cuts="relaxed"),
    "mondrian, hierarchy": lambda: ic.Mondrian(labels="hierarchy"),
    "infogain-mondrian": lambda: ic.InfoGainMondrian(target="occupation"),
    "local-recoding": ic.LocalRecoding,
    "level-sweep": ic.LevelSweep,
    "full-domain, recode": lambda: ic.FullDomain(leftovers="recode"),
    "local-suppression": ic.LocalSuppression,
    "full-domain": lambda: ic.FullDomain(max_withheld=0.05),
    "top-down": ic.TopDownSpecialization,
    "bottom-up": ic.BottomUpGeneralization,
    "k-member": ic.KMember,
    "microaggregation": ic.Microaggregation,
}


def people(rows: int) -> pl.DataFrame:
    """Return people who are mostly told apart by what is known of them."""
    rng = np.random.default_rng(3)
    frame = pl.concat([ic.datasets.census(min(CENSUS_ROWS, rows - at), seed=at) for at in range(0, rows, CENSUS_ROWS)])
    drawn = rng.normal(0, 150, rows) + 8 * frame["age"].to_numpy()
    return frame.select(*CENSUS_QUASI, "occupation", place=pl.Series((drawn % 1000).astype(np.int32)))


def described(quasi: tuple[str, ...]) -> dict[str, Any]:
    """Return the roles of the columns."""
    trees = {
        "age": ic.Intervals(widths=ic.datasets.CENSUS_AGE_WIDTHS, lower=0, upper=100),
        "place": ic.Intervals(widths=(10, 50, 200), lower=0, upper=1000),
        **{name: ic.Categories.from_tree(ic.datasets.CENSUS_TREES[name]) for name in CENSUS_QUASI if name != "age"},
    }
    hierarchies = {name: trees[name] for name in quasi}
    return {"quasi": quasi, "sensitive": ["occupation"], "others": "drop", "hierarchies": hierarchies}


def main() -> None:
    """Measure from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--part", type=float, default=1e5)
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--quasi", nargs="*", default=[*CENSUS_QUASI, "place"])
    parser.add_argument("--master", default="local[2]")
    chosen = parser.parse_args()
    from incrowd.engines.spark.session import start

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    rows, part = int(chosen.rows), int(chosen.part)
    session = start(
        chosen.master,
        {
            "spark.driver.memory": "4g", "spark.sql.shuffle.partitions": "8", "spark.ui.showConsoleProgress": "false",
            "spark.incrowd.driverTuples": str(part), "spark.incrowd.partTuples": str(part),
        },
    )  # fmt: skip
    quasi, console = tuple(chosen.quasi), Console(width=140)
    shown = Table(title=f"{rows:,} rows, parts of {part:,} tuples, k = {K}")
    for name in ("method", "distinct tuples", "loss in parts", "loss as a whole", "ratio", "withheld", "seconds"):
        shown.add_column(name, justify="right")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "people.parquet"
        people(rows).write_parquet(file)
        tuples = pl.scan_parquet(file).select(*quasi, "occupation").unique().select(pl.len()).collect().item()
        given = described(quasi)
        for name in chosen.methods:
            started = time.perf_counter()
            on_spark = ic.read(session.read.parquet(str(file)), **given)
            made = ic.publish(on_spark, ic.KAnonymity(K), method=METHODS[name](), show="label").summary
            between = time.perf_counter()
            whole = ic.publish(
                ic.read(str(file), **given), ic.KAnonymity(K), method=METHODS[name](), show="label"
            ).summary
            ended = time.perf_counter()
            loss, against = made["loss"]["gcp"], whole["loss"]["gcp"]
            line = (
                name, f"{tuples:,}", f"{loss:.4f}", f"{against:.4f}", f"{loss / against:.3f}",
                f"{made['rows']['withheld']:,} / {whole['rows']['withheld']:,}",
                f"{between - started:.0f} / {ended - between:.0f}",
            )  # fmt: skip
            shown.add_row(*line)
            console.log(*line)
    session.stop()
    console.print(shown)


if __name__ == "__main__":
    main()

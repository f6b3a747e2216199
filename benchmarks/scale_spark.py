"""The same on Spark: what the tally and the apply read, shuffle and take, from Spark's own counters.

`python -m benchmarks.scale_spark --rows 1e6 1e7`; needs PySpark and Java.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.scale import K, census_folder
from benchmarks.tables import CENSUS_QUASI
from incrowd.datasets import CENSUS_AGE_WIDTHS, CENSUS_TREES
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.intervals import Intervals


class Counters:
    """What all stages so far have read and shuffled."""

    def __init__(self, session: Any) -> None:
        self._context = session.sparkContext._jsc.sc()
        gateway = session.sparkContext._gateway
        self._no_quantiles = gateway.new_array(gateway.jvm.double, 0)
        self._kept = self._totals()

    def _totals(self) -> tuple[int, int, int]:
        self._context.listenerBus().waitUntilEmpty()
        stages = self._context.statusStore().stageList(None, False, False, self._no_quantiles, None)
        found = [stages.apply(place) for place in range(stages.size())]
        return (
            sum(stage.inputRecords() for stage in found),
            sum(stage.shuffleWriteBytes() for stage in found),
            sum(stage.executorCpuTime() for stage in found),
        )

    def since(self) -> tuple[int, int, float]:
        """Return rows read, bytes shuffled and processor seconds since the last look."""
        before, self._kept = self._kept, self._totals()
        rows, shuffled, nanoseconds = (now - then for now, then in zip(self._kept, before, strict=True))
        return rows, shuffled, nanoseconds / 1e9


def measure(console: Console, cache: Path, sizes: tuple[int, ...], master: str, *, keep: bool = False) -> None:
    """Print what each pass costs, by number of rows; `salary` is kept, so that rows are joined."""
    import incrowd as ic
    from incrowd.engines.spark.session import start

    session = start(master, {"spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "8"})
    trees: dict[str, Hierarchy] = {
        "age": Intervals(widths=CENSUS_AGE_WIDTHS),
        **{name: Categories.from_tree(CENSUS_TREES[name]) for name in CENSUS_QUASI if name != "age"},
    }
    shown = Table(title=f"Census on Spark {master}, Mondrian k = {K}, salary kept")
    for name in ("rows", "pass", "seconds", "processor seconds", "rows read", "of the table", "bytes shuffled per row"):
        shown.add_column(name, justify="right")
    for rows in sizes:
        folder, target = census_folder(rows, cache), cache / f"spark-{rows}"
        frame = session.read.parquet(str(folder))
        table = ic.read(
            frame, quasi=CENSUS_QUASI, sensitive=["occupation"], keep=["salary"], others="drop", hierarchies=trees
        )
        counters, started = Counters(session), time.perf_counter()
        passes: dict[str, tuple[float, tuple[int, int, float]]] = {}

        def note(
            stage: str,
            done: float,
            counters: Counters = counters,
            passes: dict[str, Any] = passes,
            started: float = started,
        ) -> None:
            if stage == "reading" and done == 1:
                passes["tally"] = time.perf_counter() - started, counters.since()

        release = ic.publish(table, ic.KAnonymity(K), progress=note)
        started = time.perf_counter()
        release.save(target, force=True)
        passes["apply"] = time.perf_counter() - started, counters.since()
        for name, (seconds, (read, shuffled, cpu)) in passes.items():
            line = (
                f"{rows:,}", name, f"{seconds:.1f}", f"{cpu:.1f}", f"{read:,}", f"{read / rows:.2f} ×",
                f"{shuffled / rows:.1f}",
            )  # fmt: skip
            shown.add_row(*line)
            console.log(*line)
        shutil.rmtree(target)
        if not keep:
            shutil.rmtree(folder)
    session.stop()
    console.print(shown)


def main() -> None:
    """Measure from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, nargs="*", default=[1e6, 1e7])
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "incrowd-benchmarks")
    parser.add_argument("--keep", action="store_true", help="leave the generated rows for another run")
    chosen = parser.parse_args()
    sizes = tuple(int(rows) for rows in chosen.rows)
    measure(Console(width=160), chosen.cache, sizes, chosen.master, keep=chosen.keep)


if __name__ == "__main__":
    main()

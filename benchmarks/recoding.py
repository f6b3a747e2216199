"""`python -m benchmarks.recoding`: how local recoding by the full-domain search grows with rows, on scaled Adult.

Seconds are CPU of the search alone, by all threads together; the exponent says how they grow from the size before.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import incrowd as ic
from benchmarks.generalization import MODELS
from benchmarks.tables import data_folder, scaled_adult
from incrowd.common.progress import silent
from incrowd.forms.generalized import Generalized
from incrowd.hierarchies.categories import Categories
from incrowd.metrics.ncp import GlobalCertaintyPenalty


def measure(console: Console, folder: Path, sizes: list[int], cache: Path) -> None:
    """Print a line for each set of models and size; every release is verified."""
    table = Table(title="Full-domain search, then local, on scaled Adult, 8 hierarchies", title_justify="left")
    for name in ("models", "rows", "CPU s", "exponent", "GCP", "groups"):
        table.add_column(name, justify="left" if name == "models" else "right")
    for asked, models in MODELS.items():
        before: tuple[int, float] | None = None
        for rows in sizes:
            file = scaled_adult(folder, rows, cache)
            if file is None:
                raise SystemExit("there is no script that scales Adult beside the data")
            trees = {**file.hierarchies, "age": Categories.read_csv(folder / "adult" / "hierarchy_age.csv")}
            opened = ic.read(file.path, quasi=file.quasi, sensitive=file.sensitive, hierarchies=trees)
            tally = opened.engine.count(opened.schema).tally
            start = time.process_time()
            method = ic.FullDomain(leftovers="recode")
            found = method.search(tally, opened.schema, models, rng=np.random.default_rng(0), progress=silent)
            spent = time.process_time() - start
            form = Generalized.of(tally, opened.schema, found)
            form.verify(models, tally)
            exponent = "" if before is None else f"{math.log(spent / before[1]) / math.log(rows / before[0]):.2f}"
            groups = len(np.unique(found.groups[found.published]))
            gcp = GlobalCertaintyPenalty().measure(tally, form)
            table.add_row(asked, f"{rows:,}", f"{spent:.1f}", exponent, f"{gcp:.4f}", f"{groups:,}")
            before = rows, spent
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, nargs="*", default=[30_162, 1e5, 3e5, 1e6])
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "incrowd-benchmarks")
    chosen = parser.parse_args()
    folder = data_folder()
    if folder is None:
        raise SystemExit("the data of Adult is needed: INCROWD_DATA, or ../shared/data")
    chosen.cache.mkdir(exist_ok=True)
    measure(Console(width=120), folder, [int(rows) for rows in chosen.rows], chosen.cache)


if __name__ == "__main__":
    main()

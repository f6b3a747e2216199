"""`python -m benchmarks`: print the tables of README and docs."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from rich.console import Console

from benchmarks import again, audits, confidence, families, generalization, loss, people, sets, speed
from benchmarks.tables import data_folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, nargs="*", default=[1e5, 1e6, 1e7], help="sizes of the census")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "incrowd-benchmarks")
    chosen = parser.parse_args()
    chosen.cache.mkdir(parents=True, exist_ok=True)
    console = Console(width=160)
    folder = data_folder()
    if folder is None:
        console.print("Adult is not at hand (INCROWD_DATA): only the census is measured.")
    else:
        loss.measure(console, folder)
        generalization.measure(console, folder)
    sizes = tuple(int(rows) for rows in chosen.rows)
    speed.measure(console, chosen.cache, sizes)
    confidence.measure(console, chosen.cache, sizes)
    families.measure(console, chosen.cache, sizes)
    audits.measure(console, chosen.cache, sizes)
    people.measure(console, chosen.cache)
    sets.measure(console)
    again.measure(console)


main()

"""Excel and SPSS in and out, beside what pandas and pyreadstat take alone: `python -m benchmarks.kinds --rows 1e6`."""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyreadstat
from rich.console import Console
from rich.table import Table

import incrowd as ic
from incrowd.core.codebook import Codebook, Variable
from incrowd.core.families import registered
from incrowd.sources import open_source, read_rows

COLUMNS = ("age", "sex", "education", "occupation", "salary")
LABELLED = ("sex", "education", "occupation")


def seconds(work: Callable[[], object]) -> float:
    """Time one run: these take long, and need no compiled code."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def coded(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, dict[int, str]]]:
    """Return the frame with codes in place of names, as SPSS has them, and what the codes mean."""
    labels = {name: dict(enumerate(frame[name].unique().sort().to_list(), start=1)) for name in LABELLED}
    codes = [
        frame[name].replace_strict({text: code for code, text in labels[name].items()}, return_dtype=pl.Int32)
        for name in LABELLED
    ]
    return frame.with_columns(codes), labels


def measure(console: Console, rows: int, place: Path) -> None:
    """Print one table for this many rows."""
    frame = ic.datasets.census(rows).select(COLUMNS).with_columns(pl.col(LABELLED).cast(pl.String))
    codes, labels = coded(frame)
    book = Codebook({name: Variable(labels=meaning, measure="nominal") for name, meaning in labels.items()}, "SPSS")
    sav, xlsx = place / "people.sav", place / "people.xlsx"
    sinks: dict[str, Any] = registered("sinks")
    found = {
        "SPSS, written": (
            seconds(lambda: pyreadstat.write_sav(codes, str(sav), variable_value_labels=labels, row_compress=True)),
            seconds(
                lambda: sinks["sav"]().write_labelled(iter([frame]), place / "b.sav", separator=",", codebook=book)
            ),
        ),
        "SPSS, read": (
            seconds(lambda: pyreadstat.read_sav(str(sav), apply_value_formats=True)),
            seconds(lambda: read_rows(open_source(sav))),
        ),
        "Excel, written": (
            seconds(lambda: frame.to_pandas().to_excel(place / "b.xlsx", index=False, engine="xlsxwriter")),
            seconds(lambda: sinks["xlsx"]().write(iter([frame]), xlsx, separator=",")),
        ),
        "Excel, read": (pandas_seconds(xlsx), seconds(lambda: read_rows(open_source(xlsx)))),
    }
    table = Table(title=f"{rows:,} rows, {len(COLUMNS)} columns", title_justify="left", box=None)
    for heading in ("", "pandas, or pyreadstat to pandas", "incrowd"):
        table.add_column(heading, justify="left" if not heading else "right")
    for name, (alone, ours) in found.items():
        table.add_row(name, "not installed" if alone is None else f"{alone:.1f} s", f"{ours:.1f} s")
    console.print(table)


def pandas_seconds(path: Path) -> float | None:
    """Time pandas' own reader; it takes openpyxl, which nothing else here needs."""
    if importlib.util.find_spec("openpyxl") is None:
        return None
    import pandas as pd

    return seconds(lambda: pd.read_excel(path, engine="openpyxl"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, nargs="*", default=[1e5, 1e6])
    console = Console(width=120)
    for rows in parser.parse_args().rows:
        with tempfile.TemporaryDirectory() as place:
            measure(console, int(rows), Path(place))


if __name__ == "__main__":
    main()

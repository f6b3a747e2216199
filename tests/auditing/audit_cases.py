"""A small table with names that are hard to write down, and audits as plain values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import incrowd as ic
from incrowd.auditing.audit import Audit
from incrowd.publishing.table import Table

TOWNS = {"north": ['Aa, "upon" Tyne', "Bee;bee"], "south": ["{Cee}", "<Dee & Co>", "*star"]}
QUASI = ["age", "town", "sex"]
HIERARCHIES: dict[str, Any] = {
    "age": ic.Intervals(widths=(5, 10, 20), lower=20, upper=80),
    "town": ic.Categories.from_tree(TOWNS),
    "sex": ic.Categories.from_tree(["F", "M"]),
}


def inhabitants(rows: int = 300, *, missing: bool = True, seed: int = 3) -> pl.DataFrame:
    """Return people whose illness depends on their age."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, size=rows)
    towns = [town for part in TOWNS.values() for town in part]
    ill = np.where(rng.random(rows) < age / 100, "heart, weak", rng.choice(["flu", "cold", '"none"'], size=rows))
    frame = pl.DataFrame(
        {"age": age, "town": rng.choice(towns, size=rows), "sex": rng.choice(["F", "M"], size=rows), "ill": ill}
    )
    if not missing:
        return frame
    gone = pl.Series(rng.random(rows) < 0.05)
    return frame.with_columns(
        pl.when(gone).then(None).otherwise(pl.col("town")).alias("town"),
        pl.when(gone.shift(7, fill_value=False)).then(None).otherwise(pl.col("age")).alias("age"),
    )


def opened(source: object, **changes: Any) -> Table:
    """Open the table by its roles."""
    given: dict[str, Any] = {"quasi": QUASI, "sensitive": ["ill"], "hierarchies": HIERARCHIES}
    return ic.read(source, **{**given, **changes})


def plain(audit: Audit, *, without: Sequence[str] = ()) -> dict[str, Any]:
    """Return an audit's numbers, except whether the release was seeded, which files it is, and some parts."""
    found: dict[str, Any] = json.loads(audit.to_json())
    del found["release"]["seeded"]
    found.pop("published", None)
    for name in without:
        found.pop(name, None)
    return found


def write(path: Path, text: str) -> Path:
    """Write a file."""
    path.write_text(text, encoding="utf-8")
    return path

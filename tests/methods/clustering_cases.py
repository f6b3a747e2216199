"""People to cluster, with numbers whose distances are exact, and the same people for the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import incrowd as ic
from tests.methods import naive_clusters

JOBS = {
    "lawyer": ("lawyer", "office"),
    "clerk": ("clerk", "office"),
    "writer": ("writer", "art"),
    "dancer": ("dancer", "art"),
}
JOB_TREE = ic.Categories(tuple(JOBS.values()))


def people(rows: int, seed: int, *, missing: bool = False) -> pl.DataFrame:
    """Distinct people; heights are multiples of 1/1024 of their span, so that distances are exact."""
    rng = np.random.default_rng(seed)
    heights = rng.permutation(1023)[: rows - 2] + 1
    weights: list[int | None] = [0, 512, *rng.integers(0, 513, rows - 2).tolist()]
    if missing:
        weights[3:6] = [None] * 3
    return pl.DataFrame(
        {
            "height": [0, 1024, *heights.tolist()],
            "weight": weights,
            "job": rng.choice(list(JOBS), rows).tolist(),
            "flu": rng.choice(["yes", "no"], rows).tolist(),
        }
    )


def opened(frame: pl.DataFrame, quasi: tuple[str, ...] = ("height", "weight", "job"), **options: Any) -> ic.Table:
    hierarchies = {"job": JOB_TREE} if "job" in quasi else {}
    return ic.read(frame, quasi=quasi, sensitive=["flu"], others="drop", hierarchies=hierarchies, **options)


def naive_rows(frame: pl.DataFrame) -> list[naive_clusters.Row]:
    """Return rows in the order of their codes: by height, job as in its tree, and weight, missing first."""
    table = opened(frame)
    order = table.engine.count(table.schema).tally.trees["job"].values.to_list()
    rows = [
        (row["height"] / 1024, None if row["weight"] is None else row["weight"] / 512, row["job"])
        for row in frame.iter_rows(named=True)
    ]
    return sorted(rows, key=lambda row: (row[0], order.index(row[2]), -1.0 if row[1] is None else row[1]))


def raw(row: naive_clusters.Row) -> tuple[Any, ...]:
    height, weight, job = row
    return (round(height * 1024), None if weight is None else round(weight * 512), job)

"""What the figures share: colours, panels, wide tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

from incrowd.experiments.charts import Axis
from incrowd.experiments.claims import extremes, paired
from incrowd.experiments.sattar.settings import (
    AVG_K,
    CRITERION,
    GAIN_AVG_K,
    GAIN_MAX_K,
    LAPLACE,
    LAPLACE_IN_ALL,
    LEAST_LOSS,
    MAX_K,
    OURS,
    RAW,
)

COLOURS = {
    RAW: "#444444",
    OURS: "#1b6ca8",
    LEAST_LOSS: "#86bde8",
    MAX_K: "#c0392b",
    AVG_K: "#e8893a",
    GAIN_MAX_K: "#7d3c98",
    GAIN_AVG_K: "#c39bd3",
    CRITERION: "#8d6e63",
    LAPLACE: "#2e8b57",
    LAPLACE_IN_ALL: "#a3d5b8",
}
BLUES = ("#c6dbef", "#9ecae1", "#6baed6", "#3182bd", "#08519c", "#08306b")
BROWNS = ("#fde0a8", "#fdc36b", "#f79a3e", "#e06c1f", "#bd4313", "#8c2d04")
SIZES = ("small", "large", "unbounded")
ROWS = Axis("thousands", "rows (thousands)", zero=False)


def wide(found: pl.DataFrame, index: list[str], on: str) -> pl.DataFrame:
    """Return one line per index and one column per value of another."""
    return found.pivot(on=on, index=index, values="value", aggregate_function="first", maintain_order=True)


def census_only(found: pl.DataFrame) -> pl.DataFrame:
    """Leave Adult out, which has one size only."""
    return found.filter(pl.col("dataset").str.starts_with("census"))


def drawn_later(frame: pl.DataFrame, draw: Callable[..., Any], *args: Any, **more: Any) -> Callable[[], Any] | None:
    """Return a chart to be drawn later, or none where there is nothing to draw."""
    return None if frame.is_empty() else lambda: draw(frame, *args, **more)


def wins(means: pl.DataFrame, theirs: str, said: str = "") -> str:
    """Say in how many cases local recoding's number is lower than another method's."""
    pairs = paired(means, OURS, theirs)
    lower = int((pairs["ours"] < pairs["theirs"]).sum())
    return f"{said or f'Local recoding errs less than {theirs}'} in {lower} of {pairs.height} cases"


def rows_text() -> pl.Expr:
    """Write the number of rows."""
    return (pl.col("rows") // 1000).cast(pl.String) + ",000 rows"


def largest(values: pl.Series) -> float:
    """Return the largest of some numbers; 0 where there are none."""
    return extremes(values)[1]

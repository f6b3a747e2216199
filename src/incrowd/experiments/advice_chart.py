"""A chart of the sampling advisor's pairs: rows published against distortion, a line per rate, the best ones ringed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from incrowd.common.extras import needing_extra
from incrowd.errors import OutputError
from incrowd.experiments.charts import finished, inline, save_as, shades
from incrowd.experiments.claims import extremes

_BLUES = ("#b5d4e9", "#93c3df", "#6daed5", "#4b97c9", "#2f7ebc", "#1864aa", "#08306b")
_BEST = "#c0392b"


def advice_chart(advice: pl.DataFrame) -> Any:
    """Return the chart: what was not published at all is not in it."""
    with needing_extra("experiments", "charts"):
        import altair as alt
    shown = advice.filter(pl.col("published") > 0).with_columns(sampled="β = " + pl.col("rate").cast(pl.String))
    best = shown.filter("best")
    colours = shades(shown["sampled"].unique(maintain_order=True).to_list(), _BLUES)
    x = alt.X("published:Q", scale=alt.Scale(zero=False, nice=False, padding=14)).axis(
        title="rows published, as a share of the whole table", format=".0%"
    )
    y = alt.Y("distortion:Q", axis=alt.Axis(title="mean distortion of published rows"))
    rate = alt.Color(
        "sampled:N",
        scale=alt.Scale(domain=list(colours), range=list(colours.values())),
        legend=alt.Legend(title=None, orient="bottom", columns=7),
    )
    pairs = alt.Chart(inline(shown)).encode(x=x, y=y, color=rate, order="limit:Q")
    ringed = alt.Chart(inline(best)).encode(x=x, y=y)
    rings = ringed.mark_point(size=190, strokeWidth=1.8, color=_BEST)
    drawn = pairs.mark_line(strokeWidth=1.5) + pairs.mark_point(filled=True, size=50, opacity=1) + rings
    drawn = drawn.properties(width=560, height=340)
    said = "Nothing can be published" if best.is_empty() else f"Keeps most, rows × (1 − distortion): {_told(best)}"
    return finished(drawn, said, "A line is a sampling rate β, a point on it a distortion limit δ'; the best is in red")


def _told(best: pl.DataFrame) -> str:
    """Name the rates and limits of the best pairs."""
    spans = [("β", extremes(best["rate"])), ("δ'", extremes(best["limit"]))]
    return ", ".join(f"{name} = {low:g}" + (f" to {high:g}" if high > low else "") for name, (low, high) in spans)


def draw_advice(advice: pl.DataFrame, path: Path) -> None:
    """Write the chart as SVG or PNG, by the path's suffix."""
    try:
        save_as(advice_chart(advice), path)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}.") from error

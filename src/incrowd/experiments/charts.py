"""Charts in one look, rendered without a browser or a network: PNG for slides, SVG for the web.

A chart's title says what it shows; axes say what they count and in which unit; a method has the same colour everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from incrowd.common.extras import needing_extra
from incrowd.common.records import dataclass
from incrowd.common.writing import new_file
from incrowd.experiments.claims import extremes

if TYPE_CHECKING:
    import altair as alt

_FONT = "Liberation Sans, Arial, Helvetica, DejaVu Sans, sans-serif"
_INK, _FAINT, _GRID = "#222222", "#555555", "#e6e6e6"
_PIXELS_PER_INCH = 160
_PANEL_WIDTH, _PANEL_HEIGHT = 270, 200
_LOOK: dict[str, Any] = {
    "background": "white",
    "padding": 18,
    "font": _FONT,
    "view": {"stroke": None},
    "title": {
        "anchor": "start", "frame": "bounds", "fontSize": 17, "color": _INK, "offset": 22,
        "subtitleFontSize": 12.5, "subtitleColor": _FAINT, "subtitlePadding": 6,
    },
    "axis": {
        "labelFontSize": 11, "titleFontSize": 11.5, "titleFontWeight": "normal", "titleColor": _FAINT,
        "labelColor": _FAINT, "gridColor": _GRID, "domainColor": "#999999", "tickColor": "#999999",
        "titlePadding": 8,
    },
    "axisX": {"grid": False},
    "axisY": {"labelFlush": True},
    "header": {"labelFontSize": 12.5, "labelFontWeight": "bold", "labelColor": _INK, "labelPadding": 8},
    "legend": {
        "titleFontSize": 12, "titleFontWeight": "normal", "titleColor": _FAINT, "labelFontSize": 12,
        "labelColor": _INK, "labelLimit": 340, "columnPadding": 24, "offset": 28,
    },
}  # fmt: skip


@dataclass(frozen=True)
class Axis:
    """A column of the results as an axis: its title with the unit, and how its numbers are written."""

    column: str
    title: str
    format: str = ""
    log: bool = False
    ordinal: bool = False
    zero: bool = True


def lines(
    frame: pl.DataFrame,
    x: Axis,
    y: Axis,
    colours: Mapping[str, str],
    *,
    title: str,
    subtitle: str = "",
    by: str = "method",
    panels: str | None = None,
    panels_in_order: Sequence[str] = (),
    columns: int = 3,
) -> Any:
    """Return a chart with a line per method, in a panel per value of another column if there is one."""
    with needing_extra("experiments", "charts"):
        import altair as alt
    upright = {"labelAngle": 0} if x.ordinal and frame.schema[x.column].is_numeric() else {}
    base = alt.Chart(inline(frame)).encode(
        x=_encoded(alt.X, x, **upright),
        y=_encoded(alt.Y, y),
        color=_colour(by, colours, frame),
    )
    drawn = base.mark_line(strokeWidth=2) + base.mark_point(filled=True, size=36, opacity=1)
    return _laid_out(drawn, title, subtitle, panels, panels_in_order, columns)


def ranking(
    frame: pl.DataFrame,
    x: Axis,
    colours: Mapping[str, str],
    *,
    title: str,
    subtitle: str = "",
    by: str = "method",
    panels: str,
    panels_in_order: Sequence[str] = (),
    columns: int = 3,
) -> Any:
    """Return a chart with a bar per method and its number beside it; dots where the axis does not start at 0."""
    with needing_extra("experiments", "charts"):
        import altair as alt
    order = _there(by, colours, frame)
    names = alt.Axis(title=None, labelLimit=260, ticks=False, domain=False, labelPadding=8)
    least, most = extremes(frame[x.column])
    room = 0.25 * (most - least)
    scale: dict[str, Any] = {"zero": True} if x.zero else {"domain": [least - room / 3, most + room], "nice": False}
    base = alt.Chart(inline(frame)).encode(
        x=_encoded(alt.X, replace(x, format="")).scale(**scale),
        y=alt.Y(f"{by}:N", sort=order, axis=names),
        color=_colour(by, colours, frame).legend(None),
    )
    marks = base.mark_bar(height={"band": 0.72}) if x.zero else base.mark_point(filled=True, size=90, opacity=1)
    numbers = base.mark_text(dx=6, align="left", fontSize=11, font=_FONT).encode(
        text=alt.Text(f"{x.column}:Q", format=x.format), color=alt.value(_INK)
    )
    height = 26 * len(order)
    return _laid_out(
        marks + numbers, title, subtitle, panels, panels_in_order, columns, height=height, own_scale="x", width=210
    )


def save(chart: Any, path: Path) -> list[Path]:
    """Write a chart as PNG and SVG; `path` has no suffix."""
    drawn = _drawn(chart)
    return [_write(drawn, path.with_suffix(suffix)) for suffix in (".png", ".svg")]


def save_as(chart: Any, path: Path) -> Path:
    """Write a chart as PNG or SVG, by the path's suffix."""
    return _write(_drawn(chart), path)


def _drawn(chart: Any) -> str:
    """Return a chart as SVG: a PNG is made of the same, so that what takes long is done once."""
    with needing_extra("experiments", "charts"):
        import vl_convert
    return str(vl_convert.vegalite_to_svg(chart.to_json()))


def _write(drawn: str, path: Path) -> Path:
    with needing_extra("experiments", "charts"):
        import vl_convert
    with new_file(path) as new:
        if path.suffix.lower() == ".png":
            new.write_bytes(vl_convert.svg_to_png(drawn, ppi=_PIXELS_PER_INCH))
        else:
            new.write_text(drawn, encoding="utf-8", newline="\n")
    return path


def inline(frame: pl.DataFrame) -> Any:
    """Return data that the chart carries itself, however many lines there are."""
    import altair as alt

    return alt.InlineData(values=frame.to_dicts())


def _encoded(channel: Any, axis: Axis, **more: Any) -> Any:
    import altair as alt

    kind = "O" if axis.ordinal else "Q"
    more |= {"format": axis.format} if axis.format else {}
    drawn = alt.Axis(title=axis.title, **more)
    if axis.ordinal:
        return channel(f"{axis.column}:{kind}", axis=drawn, sort=None)
    scale = alt.Scale(type="log") if axis.log else alt.Scale(zero=axis.zero)
    return channel(f"{axis.column}:{kind}", axis=drawn, scale=scale)


def shades(values: Sequence[str], colours: Sequence[str]) -> dict[str, str]:
    """Give the values of a parameter colours from light to dark."""
    last = max(len(values) - 1, 1)
    return {value: colours[round(place * (len(colours) - 1) / last)] for place, value in enumerate(values)}


def _there(by: str, colours: Mapping[str, str], frame: pl.DataFrame) -> list[str]:
    found = set(frame[by].unique())
    return [name for name in colours if name in found]


def _colour(by: str, colours: Mapping[str, str], frame: pl.DataFrame) -> alt.Color:
    import altair as alt

    order = _there(by, colours, frame)
    scale = alt.Scale(domain=order, range=[colours[name] for name in order])
    return alt.Color(f"{by}:N", scale=scale, legend=alt.Legend(title=None, orient="bottom", columns=3))


def _laid_out(
    drawn: Any,
    title: str,
    subtitle: str,
    panels: str | None,
    panels_in_order: Sequence[str],
    columns: int,
    *,
    width: int = _PANEL_WIDTH,
    height: int = _PANEL_HEIGHT,
    own_scale: str = "y",
) -> Any:
    import altair as alt

    if panels is None:
        sized = drawn.properties(width=2 * width, height=int(1.4 * height))
    else:
        order = list(panels_in_order) or None
        sized = (
            drawn.properties(width=width, height=height)
            .facet(facet=alt.Facet(f"{panels}:N", title=None, sort=order), columns=columns, bounds="flush")
            .properties(spacing={"row": 84, "column": 72 if own_scale == "y" else 36})
            .resolve_scale(**{own_scale: "independent"})
            .resolve_axis(x="independent")
        )
    return finished(sized, title, subtitle)


def finished(chart: Any, title: str, subtitle: str = "") -> Any:
    """Give a chart its title and the common look."""
    import altair as alt

    said = alt.TitleParams(text=title, subtitle=[subtitle] if subtitle else [])
    return chart.properties(title=said).configure(**_LOOK)

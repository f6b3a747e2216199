"""Charts render without a network, and show something."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from incrowd.errors import OutputError
from incrowd.experiments.advice_chart import advice_chart, draw_advice
from incrowd.experiments.charts import Axis, finished, inline, lines, ranking, save, save_as, shades
from tests.experiments import png

COLOURS = {"ours": "#1b6ca8", "theirs": "#c0392b", "absent": "#000000"}
FRAME = pl.DataFrame(
    {
        "rows": [10, 20, 10, 20] * 2,
        "value": [0.1, 0.2, 0.3, 0.5] * 2,
        "method": ["ours", "ours", "theirs", "theirs"] * 2,
        "panel": ["left"] * 4 + ["right"] * 4,
    }
)


def drawn(kind: str):
    x, y = Axis("rows", "rows (thousands)"), Axis("value", "error", ".0%")
    match kind:
        case "one panel":
            return lines(FRAME.head(4), x, y, COLOURS, title="Ours errs less", subtitle="A subtitle")
        case "panels":
            return lines(
                FRAME, x, y, COLOURS, title="Ours errs less", panels="panel", panels_in_order=["right", "left"]
            )
        case "bars":
            return ranking(FRAME.filter(rows=10), y, COLOURS, title="Ours errs less", panels="panel")
        case _:
            dots = Axis("value", "accuracy", ".3f", zero=False)
            return ranking(FRAME.filter(rows=10), dots, COLOURS, title="Ours errs less", panels="panel")


@pytest.mark.parametrize("kind", ["one panel", "panels", "bars", "dots"])
def test_charts_are_drawn(kind: str, tmp_path: Path) -> None:
    picture, vector = save(drawn(kind), tmp_path / "chart")
    assert png.busy_share(picture) > 0.004
    assert min(png.size(picture)) > 300
    told = vector.read_text(encoding="utf-8")
    assert told.startswith("<svg")
    for text in ("Ours errs less", "ours", "theirs"):
        assert text in told
    assert "absent" not in told
    assert "#1b6ca8" in told


def test_a_blank_picture_would_be_noticed(tmp_path: Path) -> None:
    import altair as alt

    blank = finished(alt.Chart(inline(FRAME)).mark_point(opacity=0), "")
    assert png.busy_share(save_as(blank, tmp_path / "blank.png")) < 0.0005


def test_shades_go_from_light_to_dark() -> None:
    assert shades(["a", "b", "c"], ("#1", "#2", "#3", "#4", "#5")) == {"a": "#1", "b": "#3", "c": "#5"}
    assert shades(["a"], ("#1", "#2")) == {"a": "#1"}
    assert shades([], ("#1",)) == {}


ADVICE = pl.DataFrame(
    {
        "rate": [0.5, 0.5, 1.0, 1.0],
        "limit": [0.2, 0.6, 0.2, 0.6],
        "published": [0.0, 0.45, 0.9, 1.0],
        "withheld": [1.0, 0.1, 0.1, 0.0],
        "distortion": [None, 0.2, 0.1, 0.15],
        "gcp": [None, 0.2, 0.1, 0.15],
        "best": [False, False, True, True],
    }
)


@pytest.mark.parametrize("suffix", ["png", "svg", "SVG"])
def test_advice_is_drawn(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"advice.{suffix}"
    draw_advice(ADVICE, path)
    if suffix == "png":
        assert png.busy_share(path) > 0.004
    else:
        assert "Keeps most, rows × (1 − distortion): β = 1" in path.read_text()


def test_advice_that_publishes_nothing_is_drawn_too(tmp_path: Path) -> None:
    nothing = ADVICE.with_columns(published=pl.lit(0.0), best=pl.lit(False))
    assert "Nothing can be published" in save_as(advice_chart(nothing), tmp_path / "none.svg").read_text()


def test_a_chart_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written: No such file or directory"):
        draw_advice(ADVICE, tmp_path / "missing" / "advice.svg")

"""The levels or labels that each column got, as plain values: for the summary, and for audits."""

from __future__ import annotations

from typing import Any

import polars as pl

from incrowd.core.labelled import Labelled, ShownGroups

_MOST_LABELS = 40
"""So many labels of a column are listed; labels.json has all of them."""


def told_scheme(form: Labelled) -> dict[str, Any]:
    """Return the levels or cuts of each column, as plain values for the summary."""
    shown = form.shown
    columns: dict[str, Any] = {}
    for place, name in enumerate(shown.columns):
        columns[name] = {**_recoded(form, place), "labels": _first_labels(shown, place)}
    how = "all groups share levels" if shown.levels is not None else "each group has its own labels"
    return {"recoded": how, "columns": columns}


def recoded_columns(form: Labelled) -> dict[str, Any]:
    """Return the same without the labels themselves, whose order only the table's own trees know."""
    return {name: _recoded(form, place) for place, name in enumerate(form.shown.columns)}


def _recoded(form: Labelled, place: int) -> dict[str, Any]:
    name, levels = form.shown.columns[place], form.shown.levels
    return {
        "shows": form.schema.show.get(name, "label"),
        **({} if levels is None else {"level": int(levels[place])}),
        "number of labels": form.shown.labels[name].n_unique(),
    }


def _first_labels(shown: ShownGroups, place: int) -> list[str]:
    """Return labels in the order of what they stand for."""
    labels = shown.labels[shown.columns[place]]
    frame = pl.DataFrame({"label": labels, "low": shown.lows[:, place], "high": shown.highs[:, place]}).lazy()
    ordered = frame.group_by("label").agg(pl.min("low"), pl.max("high")).sort("low", "high", "label")
    return ordered.select(pl.col("label").drop_nulls().cast(pl.String).head(_MOST_LABELS)).collect()["label"].to_list()


def recoded_says(column: dict[str, Any]) -> str:
    """Return what became of a column as a clause.

    >>> recoded_says({"shows": "mean", "level": 2, "number of labels": 1})
    'level 2, 1 label, shown as mean'
    """
    number = column["number of labels"]
    level = f"level {column['level']}, " if "level" in column else ""
    shows = "" if column["shows"] == "label" else f", shown as {column['shows']}"
    return f"{level}{number:,} label{'s' if number != 1 else ''}{shows}"

"""The levels or labels that each column got, as plain values: for the summary, and for audits."""

from __future__ import annotations

from typing import Any

import polars as pl

from incrowd.core.labelled import Labelled

_MOST_LABELS = 40
"""So many labels of a column are listed; labels.json has all of them."""


def told_scheme(form: Labelled) -> dict[str, Any]:
    """Return the levels or cuts of each column, as plain values for the summary."""
    shown = form.shown
    columns: dict[str, Any] = {}
    for place, name in enumerate(shown.columns):
        distinct = shown.labels[name].unique()
        ordered = pl.DataFrame(
            {"label": shown.labels[name], "low": shown.lows[:, place], "high": shown.highs[:, place]}
        )
        ordered = ordered.group_by("label").agg(pl.min("low"), pl.max("high")).sort("low", "high", "label")
        columns[name] = {
            "shows": form.schema.show.get(name, "label"),
            **({} if shown.levels is None else {"level": int(shown.levels[place])}),
            "number of labels": len(distinct),
            "labels": ordered["label"].drop_nulls().cast(pl.String).head(_MOST_LABELS).to_list(),
        }
    how = "all groups share levels" if shown.levels is not None else "each group has its own labels"
    return {"recoded": how, "columns": columns}


def recoded_columns(form: Labelled) -> dict[str, Any]:
    """Return the same without the labels themselves, whose order only the table's own trees know."""
    columns = told_scheme(form)["columns"]
    return {name: {key: told for key, told in one.items() if key != "labels"} for name, one in columns.items()}


def recoded_says(column: dict[str, Any]) -> str:
    """Return what became of a column as a clause.

    >>> recoded_says({"shows": "mean", "level": 2, "number of labels": 1})
    'level 2, 1 label, shown as mean'
    """
    number = column["number of labels"]
    level = f"level {column['level']}, " if "level" in column else ""
    shows = "" if column["shows"] == "label" else f", shown as {column['shows']}"
    return f"{level}{number:,} label{'s' if number != 1 else ''}{shows}"

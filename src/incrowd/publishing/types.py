"""The types that published columns have in frames and in files that know types: those of the table, where values allow.

A quasi-identifier of which every label is a single value is numbers or dates again; digits that were text stay text;
categories are categories, of the published names alone. What does not fit its type stays text. Kept columns are as the
table has them, their categories as text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import polars as pl

from incrowd.core.labelled import Labelled
from incrowd.core.source import OpenedTable
from incrowd.hierarchies.values import as_short_text

Cast = Callable[[pl.Series], pl.Series]


def casts_of(form: Labelled, source: OpenedTable) -> dict[str, Cast]:
    """Return how columns of the published rows become what they were."""
    before, of_text = source.frame.collect_schema(), "separator" in source.description  # a text file knows no types
    shown, schema = form.shown, form.schema
    found: dict[str, Cast] = {}
    for place, name in enumerate(shown.columns):
        if name in shown.stand_ins or name not in before:
            continue
        labels, tree = shown.labels[name], form.tally.trees[name]
        wanted = tree.values.dtype if of_text else before[name]
        exact = ((shown.highs[:, place] - shown.lows[:, place]) == 1) | labels.is_null().to_numpy()
        if name in source.categorical:
            found[name] = _to_categories(labels)
        elif exact.all() and len(labels) and (wanted.is_numeric() or wanted == pl.Date) and _fits(labels, wanted):
            found[name] = _to(wanted)
    for place, name in enumerate(schema.sensitive):
        values = form.tally.trees[name].values
        if name in source.categorical:
            found[name] = _to_categories(values.gather(np.unique(form.sensitive[:, place])))
        elif not of_text and before.get(name) == pl.String and values.dtype != pl.String:
            found[name] = as_short_text
    return found


def typed(rows: pl.DataFrame, casts: Mapping[str, Cast]) -> pl.DataFrame:
    """Return published rows in the types of the table."""
    made = [cast(rows[name].alias("")).alias(name) for name, cast in casts.items() if name in rows.columns]
    return rows.with_columns(made) if made else rows


def _fits(labels: pl.Series, wanted: pl.DataType) -> bool:
    """Whether labels are read as values of a type, and written from these again."""
    made = _as(labels, wanted, strict=False)
    return made.null_count() == labels.null_count() and bool(as_short_text(made).eq_missing(labels).all())


def _to(wanted: pl.DataType) -> Cast:
    return lambda column: _as(column, wanted, strict=True)


def _as(labels: pl.Series, wanted: pl.DataType, *, strict: bool) -> pl.Series:
    texts = labels.cast(pl.String)
    return texts.str.to_date("%Y-%m-%d", strict=strict) if wanted == pl.Date else texts.cast(wanted, strict=strict)


def _to_categories(values: pl.Series) -> Cast:
    """Return categories of what is published, and of nothing else that the table's own categories name."""
    names = pl.Enum(as_short_text(values).drop_nulls().unique().sort())
    return lambda column: as_short_text(column).cast(names)

"""Numbers that a file shows in place of labels, read as what `labels.json` says that they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from incrowd.common.arrays import Ints
from incrowd.core.schema import Schema
from incrowd.core.show import written_as
from incrowd.errors import SourceError
from incrowd.forms.stand_ins import as_keys
from incrowd.hierarchies.values import natural_kind

_SHOWN = "\0shown "
"""Starts the names of what is shown; the zero byte keeps them apart from any column that a table may have."""


def with_labels(rows: pl.DataFrame, schema: Schema, meanings: Mapping[str, Any] | None) -> pl.DataFrame:
    """Return published rows with the labels that their numbers stand for, and these numbers under other names."""
    for name, show in schema.show.items():
        columns = written_as(name, show)
        told = {} if meanings is None else meanings["columns"].get(name, {}).get("shown", {})
        if told.get("columns") != list(columns) or told.get("as") != show:
            raise SourceError(
                f"column '{name}' shows numbers in place of labels, and labels.json does not tell their meaning.  "
                "Hint: its files were damaged or changed after it was published; publish it again."
            )
        values = rows.select(cs.by_name(*columns))
        keys = as_keys(values)
        entries = [tuple(entry) for entry in told["values"]]
        known = as_keys(pl.DataFrame({column: _texts(at, entries) for at, column in enumerate(columns)}))
        lookup = known.with_columns(
            pl.Series("\0label", [entry[-1] for entry in entries], dtype=pl.String), pl.lit(value=True).alias("\0known")
        )
        found = keys.join(lookup, on=cs.by_name(*columns), how="left", nulls_equal=True, maintain_order="left")
        if found.height != rows.height or found["\0known"].null_count():
            raise SourceError(
                f"column '{name}' shows numbers that labels.json does not tell of, or tells of twice.  Hint: its files "
                "were damaged or changed after it was published; publish it again."
            )
        moved = [natural_kind(values[column].alias("")).alias(_SHOWN + column) for column in columns]
        rows = rows.drop(cs.by_name(*columns)).with_columns(found["\0label"].alias(name), *moved)
    return rows


def shown_columns(schema: Schema) -> tuple[str, ...]:
    """Return the names of the numbers in rows that `with_labels` returns."""
    return tuple(_SHOWN + column for name, show in schema.show.items() for column in written_as(name, show))


def number_stand_ins(rows: pl.DataFrame, name: str, schema: Schema) -> tuple[Ints, pl.Series, pl.DataFrame]:
    """Return what each row shows by number, and of each number the label and what is written."""
    columns = written_as(name, schema.show[name])
    shown = [_SHOWN + column for column in columns]
    distinct = rows.select(cs.by_name(name, *shown)).unique().sort(pl.all(), nulls_last=False)
    numbered = distinct.with_row_index("\0number")
    found = rows.select(cs.by_name(*shown)).join(
        numbered, on=cs.by_name(*shown), how="left", nulls_equal=True, maintain_order="left"
    )
    values = distinct.select(cs.by_name(*shown)).rename(dict(zip(shown, columns, strict=True)))
    return found["\0number"].to_numpy().astype(np.int64), distinct[name].alias(""), values


def _texts(at: int, entries: list[tuple[Any, ...]]) -> pl.Series:
    texts = [None if entry[at] is None else str(entry[at]) for entry in entries]
    return pl.Series(texts, dtype=pl.String)

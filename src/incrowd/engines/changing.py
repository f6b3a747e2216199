"""Columns that are changed before anything is counted: the opened table yields values as they are published.

So everything behind this door, methods and models, kept columns, files and their readers, sees published values and no
others. Changes without chance are made value by value while rows are read. Where chance changes a column, the rows come
into memory, in an order that depends on what they hold alone, and chance is drawn once for all that follows: for each
row, or, where it is known whose a row is, for each value of each person, so that nobody's rows can be averaged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from incrowd.changes.change import Change, Column
from incrowd.common.arrays import Ints
from incrowd.common.plain import plain
from incrowd.common.records import dataclass
from incrowd.core.changed import ChangeFacts
from incrowd.core.people import number_people
from incrowd.core.schema import Schema
from incrowd.core.source import OpenedTable
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.texts import TextRules
from incrowd.hierarchies.values import as_short_text, code_values, natural_kind
from incrowd.kernels.keys import rank_keys
from incrowd.sources import reading

_COUNT = "n"
_NUMBER = r"^[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"


@dataclass(frozen=True, eq=False)
class ChangedRows:
    """A table as it is published, and what to tell of how it was changed."""

    source: OpenedTable
    facts: ChangeFacts


def changed_rows(source: OpenedTable, schema: Schema, rng: np.random.Generator, *, private: bool) -> ChangedRows:
    """Return a table whose columns are changed. Under a `private` method, each value is read by itself alone."""
    told: dict[str, Sequence[Mapping[str, Any]]] = {}
    facts = ChangeFacts(schema.changes, banded=schema.banded)
    changed = source
    for name, changes in sorted(schema.changes.items()):
        if name not in facts.by_chance:
            changed, told[name] = _recoded(changed, name, changes, schema.banded.get(name), private=private)
    if facts.by_chance:
        changed, drawn = _perturbed(changed, schema, facts.by_chance, rng)
        told |= drawn
    return ChangedRows(changed, replace(facts, told=told))


def without_chance(source: OpenedTable, facts: ChangeFacts, *, private: bool = False) -> OpenedTable:
    """Return a table in the words of the release: changed as far as that takes no chance.

    It is what people truly have, as far as published values could tell it.
    """
    for name, changes in sorted(facts.columns.items()):
        certain = tuple(change for change in changes if not change.by_chance)
        if certain and name in source.columns:
            source, _ = _recoded(source, name, certain, facts.banded.get(name), private=private)
    return source


def _recoded(
    source: OpenedTable, name: str, changes: Sequence[Change], hierarchy: Hierarchy | None, *, private: bool
) -> tuple[OpenedTable, list[Mapping[str, Any]]]:
    """Change a column value by value."""
    column = cs.by_name(name).as_expr()
    with reading(source):
        found = (
            source.frame.select(column.alias("value"))
            .group_by("value")
            .agg(pl.len().cast(pl.Int64).alias(_COUNT))
            .collect(engine="streaming")
        )
    raw, counts = found["value"].alias(""), found[_COUNT].to_numpy()
    values = _read(raw, source.texts)
    there = values.is_not_null()
    if private and raw.dtype == pl.String:
        there &= raw.str.strip_chars().str.contains(_NUMBER).fill_null(value=False)
        values = pl.select(pl.when(there).then(values.cast(pl.String).cast(pl.Float64, strict=False))).to_series()
    distinct, codes = code_values(values.filter(there))
    entries = Column(name, distinct, codes.astype(np.int64) - 1, counts[there.to_numpy()], hierarchy)
    entries, told = _all_of(changes, entries, None)
    new = _as_stored(entries.values.gather(entries.code_of), raw.dtype)
    full = pl.Series([None] * len(raw), dtype=new.dtype)
    made = full.scatter(np.flatnonzero(there.to_numpy()), new) if len(new) else full
    if private and raw.dtype == pl.String:  # what is no number stays as it is
        made = pl.select(pl.when(there).then(made).otherwise(raw)).to_series()
    mapped = column.replace_strict(raw, made, return_dtype=made.dtype).alias(name)
    return replace(source, frame=source.frame.with_columns(mapped)), told


def _all_of(
    changes: Sequence[Change], column: Column, rng: np.random.Generator | None
) -> tuple[Column, list[Mapping[str, Any]]]:
    """Make one change after the other; return the column after them, and what to tell of each."""
    told: list[Mapping[str, Any]] = []
    for change in changes:
        told.append(
            {"name": change.name, **change.to_recipe(), **plain(dict(change.told(column))), "says": change.says()}
        )
        if change.by_chance and rng is not None:
            values = change.perturb(column, rng)
        else:
            values = change.recode(column).gather(column.code_of)
        distinct, codes = code_values(values.alias(""))
        column = replace(column, values=distinct, code_of=codes.astype(np.int64) - 1)
    return column, told


def _perturbed(
    source: OpenedTable, schema: Schema, names: Sequence[str], rng: np.random.Generator
) -> tuple[OpenedTable, dict[str, list[Mapping[str, Any]]]]:
    """Change columns by chance, rows being in memory."""
    wanted = {*schema.found_again_by, *schema.found_again, *schema.items, *schema.identifiers}
    wanted |= {other for treatment in schema.dates.values() for other in treatment.looks_at}
    columns = [name for name in source.columns if name in wanted]
    with reading(source):
        rows = source.frame.select(cs.by_name(*columns)).collect(engine="streaming")
    rows = rows[_order(rows)]
    person = number_people(rows, sorted(schema.person), source.texts) if schema.person else None
    told = {}
    for name in sorted(names):
        raw = rows[name].alias("")
        values = _read(raw, source.texts)
        there = np.flatnonzero(values.is_not_null().to_numpy())
        distinct, codes = code_values(values.gather(there))
        unit_of, first = _units(codes.astype(np.int64) - 1, None if person is None else person[there])
        entries = Column(name, distinct, (codes - 1)[first].astype(np.int64), np.ones(len(first), dtype=np.int64))
        entries = replace(entries, hierarchy=schema.banded.get(name))
        entries, told[name] = _all_of(schema.changes[name], entries, rng)
        new = _as_stored(entries.values.gather(entries.code_of), raw.dtype).gather(unit_of)
        full = pl.Series([None] * rows.height, dtype=new.dtype)
        made = full.scatter(there, new) if len(new) else full
        rows = rows.with_columns(made.alias(name))
    return replace(source, frame=rows.lazy(), columns=tuple(columns), in_memory=True, stated=None), told


def _units(codes: Ints, person: Ints | None) -> tuple[Ints, Ints]:
    """Return what chance is drawn for, by row, and one row of each: the row itself, or a value of a person."""
    if person is None:
        rows = np.arange(len(codes))
        return rows, rows
    room = int(codes.max(initial=0)) + 1
    return rank_keys(person * room + codes, (int(person.max(initial=0)) + 1) * room)


def _order(rows: pl.DataFrame) -> Ints:
    """Return an order that depends on what rows hold alone; the order of columns makes no difference, either."""
    told_apart_by = [name for name in sorted(rows.columns) if not rows[name].dtype.is_nested()]
    keys = pl.DataFrame([rows[name].alias(f"c{place}") for place, name in enumerate(told_apart_by)])
    return keys.select(pl.arg_sort_by(keys.columns, nulls_last=True)).to_series().to_numpy().astype(np.int64)


def _read(raw: pl.Series, texts: TextRules) -> pl.Series:
    """Return a column's values as what they are: numbers, dates or texts."""
    return natural_kind(texts.read(raw)) if raw.dtype == pl.String else natural_kind(raw)


def _as_stored(values: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Return values as the table stores them: a text file holds texts."""
    if dtype == pl.Boolean and values.dtype == pl.String and values.is_in(["true", "false"]).all():
        return values == "true"
    return as_short_text(values) if dtype == pl.String else values

"""Columns that are changed before they are published: what is refused, and what a reader should know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from incrowd.core.changed import ChangeFacts
from incrowd.core.method import AnyMethod
from incrowd.core.model import Model
from incrowd.core.schema import Schema
from incrowd.core.source import OpenedTable
from incrowd.engines.changing import changed_rows
from incrowd.engines.local import LocalEngine
from incrowd.errors import SchemaError
from incrowd.hierarchies.flat import Exact
from incrowd.publishing.table import Table


def refuse_changes(table: Table, method: AnyMethod) -> None:
    """Refuse, before any work, changes that cannot be made here."""
    schema = table.schema
    for name, changes in schema.changes.items():
        if not table.engine.changes_values:
            raise SchemaError(
                f"the engine {table.engine.name} publishes values as they are, and column '{name}' is to be changed.  "
                "Hint: change it before, or publish on one machine."
            )
        for change in changes if schema.person else ():
            if change.looks_at_data and not change.by_chance:
                raise SchemaError(
                    f"column '{name}': {change.name} takes a threshold or a mean from the table, of ten people at "
                    "least, and where people have several rows these may be one person's.  Hint: state the threshold, "
                    'and shown="threshold".'
                )
        for change in changes if method.promises_privacy else ():
            if change.by_chance or change.looks_at_data or change.uses_hierarchy:
                raise SchemaError(
                    f"column '{name}': {method.name} promises differential privacy, and {change.name} is no part of "
                    "that promise: it looks at other people's values, or draws chance of its own.  Hint: use a change "
                    "whose parameters are stated, such as Rounding or TopCoding with a threshold."
                )
    for name, hierarchy in schema.banded.items():
        if hierarchy.as_published(pl.Series([], dtype=pl.String)) is not hierarchy:
            raise SchemaError(
                f"column '{name}': its hierarchy lists values that were taken from the data, and a release that is "
                'banded by it would name them.  Hint: leave out taken_from = "data" if these values are public.'
            )


def change_table(table: Table, method: AnyMethod, rng: np.random.Generator) -> tuple[Table, ChangeFacts]:
    """Return a table whose columns are changed as its schema says, and what to tell of it."""
    schema, source = table.schema, table.engine.source
    if not schema.changes:
        return table, ChangeFacts()
    assert isinstance(source, OpenedTable)  # other engines change nothing, and were refused
    changed = changed_rows(source, schema, rng, private=method.promises_privacy)
    return replace(table, engine=LocalEngine(changed.source)), changed.facts


def change_warnings(facts: ChangeFacts, schema: Schema, models: Sequence[Model]) -> list[str]:
    """Return what a reader should know of changed columns."""
    found = []
    kept = [name for name in facts.columns if name not in schema.sensitive]
    if kept:
        found.append(f"Columns published after a change, outside of every guarantee: {', '.join(kept)}.")
    if facts.columns:
        told = "; ".join(f"{name} ({facts.says(name)})" for name in facts.columns)
        found.append(f"Changed before publication: {told}.")
    if unknown := [name for name in kept if name in facts.by_chance]:
        found.append(
            f"How well people are found by columns that chance changed is not measured: {', '.join(unknown)}. Who "
            "knows what they truly have may still recognize what is near it."
        )
    judged = {name for model in models if model.looks_at_values for name in _column_of(model, schema)}
    if drawn := [name for name in facts.by_chance if name in judged]:
        found.append(
            f"Models are judged on published values, which chance changed: {', '.join(drawn)}. What people truly have "
            "may be less diverse; an audit that knows the table measures how well it is guessed."
        )
    return found


def unused_hierarchies(schema: Schema, models: Sequence[Model]) -> list[str]:
    """Return what to say of sensitive columns whose hierarchy nobody follows: values are published as they are."""
    plain = [name for name, hierarchy in schema.sensitive.items() if hierarchy != Exact()]
    if not plain or any(model.follows_hierarchy for model in models):
        return []
    return [
        f"Sensitive columns with a hierarchy are published as they are, value by value: {', '.join(plain)}. To publish "
        'bands in place of values, say Banding(1) in changes=, or change = { name = "banding", level = 1 } in a recipe.'
    ]


def _column_of(model: Model, schema: Schema) -> tuple[str, ...]:
    return tuple(schema.sensitive) if model.column is None else (model.column,)

"""Open a table, tell what was found out about it, and profile it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.common.surface import written_in
from incrowd.core.source import OpenedTable, ReadOptions
from incrowd.hierarchies.values import as_text, natural_kind
from incrowd.planning.profile.distributions import distribution
from incrowd.planning.profile.facts import ColumnFacts
from incrowd.planning.profile.fewest import singled_out_by
from incrowd.planning.profile.proposing import profile_of
from incrowd.planning.profile.separation import measure
from incrowd.planning.profile.survey import Survey, survey
from incrowd.planning.profile.writing import recipe_text
from incrowd.publishing.recipe_format import hierarchy_to_dict
from incrowd.sources import reading
from incrowd.sources.opening import kind_of_source, locate, open_table
from incrowd.studio.refusing import Refused
from incrowd.studio.source_options import as_read_options, shown_options
from incrowd.studio.working import Task, Teller

FIRST_ROWS = 50
MOST_AT_ONCE = 200_000
"""Of more rows, sets of columns that grow are measured only where that is asked for: it takes a moment."""
_TYPES = {
    "integer": "whole number",
    "number": "number",
    "date": "date",
    "truth": "yes or no",
    "duration": "duration",
    "text": "text",
}


def open_one(memory: dict[str, Any], asked: dict[str, Any], tell: Teller) -> dict[str, Any]:
    """Open a table; parts: what was found out (`found`), the profile. The result is a recipe to start from."""
    memory.clear()
    tell.progress("opening", 0.0)
    with written_in("recipe"):
        options = as_read_options(asked["options"])
        location = locate(asked["location"])
        kind = kind_of_source(location, options).name
        opened = open_table(asked["location"], options)
        tell.part("found", _found(opened, kind, asked["options"]))
        tell.progress("opening", 1.0)
        surveyed = survey(opened, tell.progress)
        found = profile_of(opened, surveyed, tell.progress)
    memory["opened"], memory["survey"], memory["profile"] = opened, surveyed, found
    tell.progress("drawing", 0.0)
    tell.part("profile", _profile(found, surveyed, opened))
    from incrowd.studio.tasks.hierarchies import column_of

    for column in found.named("quasi"):
        column_of(memory, column.name)  # counted now, while somebody sees how far it is
    tell.progress("drawing", 1.0)
    return {"recipe": tomllib.loads(recipe_text(found, recipe_path=Path(asked["recipe"])))}


def _found(opened: OpenedTable, kind: str, stated: dict[str, Any]) -> dict[str, Any]:
    with reading(opened):
        first = opened.frame.head(FIRST_ROWS).collect(engine="streaming")
    written = opened.description.get("written")
    ways = written if isinstance(written, dict) else {}
    return {
        "source": dict(opened.description),
        "found_out": list(opened.found_out),
        "kind": kind,
        "columns": [{"name": name, "type": _type(first[name]), "written": ways.get(name)} for name in opened.columns],
        "first": {
            "columns": list(opened.columns),
            "rows": [list(row) for row in first.select(_as_text(first[name]) for name in first.columns).rows()],
        },
        "notes": list(opened.notes),
        "options": shown_options(kind, opened, stated),
    }


def _as_text(values: pl.Series) -> pl.Series:
    if values.dtype.is_nested():
        joined = values.list.eval(pl.element().cast(pl.String)).list.join("; ", ignore_nulls=True)
        return joined.alias(values.name)
    return as_text(values).alias(values.name)


def _type(values: pl.Series) -> str:
    if values.dtype.is_nested():
        return "list"
    if values.dtype == pl.Boolean:
        return "yes or no"
    natural = natural_kind(values.alias("")) if values.dtype != pl.Duration else values
    if natural.dtype.is_integer():
        return "whole number"
    if natural.dtype.is_numeric():
        return "number"
    return "date" if natural.dtype.is_temporal() else "text"


def _profile(found: Any, surveyed: Survey, opened: OpenedTable) -> dict[str, Any]:
    told = found.to_dict()
    columns = []
    for line, column in zip(told["columns"], found.columns, strict=True):
        facts, alone = surveyed.columns[column.name], surveyed.alone[column.name]
        columns.append(
            {
                **line,
                "hierarchy": None if column.hierarchy is None else hierarchy_to_dict(column.hierarchy),
                "unique_rows": alone.unique_rows,
                "unique_share": alone.unique_share,
                "look": facts.look,
                "type": _TYPES[facts.look],
                "distribution": distribution(facts, opened),
            }
        )
    return {**told, "columns": columns, "people": _people(found, surveyed.columns)}


def _people(found: Any, facts: Mapping[str, ColumnFacts]) -> dict[str, Any]:
    """Return what may tell whose a row is: what is proposed, and columns that name people and repeat."""
    proposed = next((column.name for column in found.columns if column.role == "person"), None)
    naming = [
        column
        for column in found.columns
        if column.role in ("identifier", "person", "household") and column.distinct < found.rows
    ]
    return {
        "proposed": proposed,
        "asked": bool(naming),
        "candidates": [
            {"column": column.name, "distinct": column.distinct, "rows": facts[column.name].present}
            for column in naming
        ],
    }


def single_out(memory: dict[str, Any], asked: dict[str, Any], tell: Teller) -> dict[str, Any]:
    """Tell how many rows some columns single out, and how far the best few of them get."""
    rows = survey_of(memory).coded
    unknown = [name for name in asked["columns"] if name not in rows.codes]
    if unknown or not asked["columns"]:
        raise Refused(400, "name some columns of the table.", kind="SchemaError")
    if asked["fewest"] is None and rows.rows > MOST_AT_ONCE:
        return {"together": measure(rows, asked["columns"]).to_dict(), "fewest": None}
    return singled_out_by(rows, asked["columns"])


def opened_of(memory: dict[str, Any]) -> OpenedTable:
    """Return the table that was opened in this process."""
    if "opened" not in memory:
        raise Refused(409, "the table is not open.", hint="open it again", kind="NotOpen")
    opened: OpenedTable = memory["opened"]
    return opened


def survey_of(memory: dict[str, Any]) -> Survey:
    """Return what was read of it."""
    opened_of(memory)
    surveyed: Survey = memory["survey"]
    return surveyed


def stated_options(options: dict[str, Any]) -> ReadOptions:
    """Return how a table is to be read."""
    return as_read_options(options)


TASKS: dict[str, Task] = {"open": open_one, "single out": single_out}

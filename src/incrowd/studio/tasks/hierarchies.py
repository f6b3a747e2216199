"""Hierarchies over the values of their columns: looked at, edited, read from files."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from incrowd.hierarchies.automatic import Automatic
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.planning.hierarchies import ColumnValues, Looked, edited, look_at
from incrowd.planning.profile.distributions import distribution
from incrowd.publishing.recipe_format import hierarchy_from_dict, hierarchy_to_dict
from incrowd.studio.tasks.opening import opened_of, survey_of
from incrowd.studio.working import Task, Teller


def look(memory: dict[str, Any], asked: dict[str, Any], tell: Teller) -> dict[str, Any]:
    """Show a hierarchy level by level."""
    return _told(memory, _looked(memory, asked))


def edit(memory: dict[str, Any], asked: dict[str, Any], tell: Teller) -> dict[str, Any]:
    """Change a hierarchy in one way, and show what comes of it."""
    looked = _looked(memory, asked)
    return _told(memory, look_at(edited(looked, asked["edit"]), looked.column))


def from_file(memory: dict[str, Any], asked: dict[str, Any], tell: Teller) -> dict[str, Any]:
    """Read a hierarchy's file, as the library reads it, and hold it against the column."""
    found = Categories.from_csv(asked["text"], separator=asked.get("separator", ";"))
    return _told(memory, look_at(found, column_of(memory, asked["column"])))


def to_file(memory: dict[str, Any], asked: dict[str, Any], tell: Teller) -> str:
    """Write all levels as a file that the library, and others, read: one line per value."""
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(_looked(memory, asked).rows_of_values())
    return text.getvalue()


def _looked(memory: dict[str, Any], asked: dict[str, Any]) -> Looked:
    return look_at(_hierarchy(asked), column_of(memory, asked["column"]))


def _hierarchy(asked: dict[str, Any]) -> Hierarchy:
    if asked.get("hierarchy") is None:
        return Exact() if asked.get("role") == "sensitive" else Automatic()
    return hierarchy_from_dict(asked["hierarchy"], base=Path(asked["base"]))


def column_of(memory: dict[str, Any], name: str) -> ColumnValues:
    """Count a column once for as long as its table is open."""
    counted: dict[str, ColumnValues] = memory.setdefault("columns", {})
    if name not in counted:
        opened, facts = opened_of(memory), survey_of(memory).columns.get(name)
        known = None if facts is None else ColumnValues.known(opened, facts)
        counted[name] = known or ColumnValues.of(opened, name)
    return counted[name]


def _told(memory: dict[str, Any], looked: Looked) -> dict[str, Any]:
    name = looked.column.column
    drawn: dict[str, Any] = memory.setdefault("drawn", {})
    if name not in drawn:
        drawn[name] = distribution(survey_of(memory).columns[name], opened_of(memory))
    return {**looked.to_dict(), "hierarchy": hierarchy_to_dict(looked.hierarchy), "histogram": drawn[name]}


TASKS: dict[str, Task] = {
    "hierarchy": look,
    "edit hierarchy": edit,
    "hierarchy from file": from_file,
    "hierarchy to file": to_file,
}

"""What a rule asks of a profiled table: roles, changes, models and a method, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from incrowd.common.records import dataclass
from incrowd.planning.profile.column_profile import ColumnProfile


@dataclass(frozen=True)
class Asked:
    """A table of a recipe and why it is there; one that is `off` is written as a comment."""

    why: str
    entries: Mapping[str, Any]
    off: bool = False


@dataclass(frozen=True)
class PlannedColumn:
    """A column, the role that a rule gives it, and why."""

    column: ColumnProfile
    role: str
    why: str
    entries: Mapping[str, Any] = field(default_factory=dict)
    """What else the recipe says of it: `change`, `date`."""


@dataclass(frozen=True)
class Plan:
    """A recipe that a rule asks for, before it is written."""

    title: str
    not_established: tuple[str, ...]
    """What a release by this recipe does not establish; written at the top."""
    questions: tuple[str, ...]
    """What a person has to look at, since no program can."""
    models: tuple[Asked, ...]
    method: Asked
    columns: tuple[PlannedColumn, ...]
    sample: Asked | None = None

"""The parts of an audit's page after the verdict, in their order."""

from __future__ import annotations

from collections.abc import Callable

from incrowd.report.html import Raw
from incrowd.report.risk_sections import attacks, crowds, ladder, promises, worst_groups
from incrowd.report.section import Found
from incrowd.report.use_sections import changed, columns, learning, losses, pairs, queries

SECTIONS: tuple[Callable[[Found], Raw | None], ...] = (
    attacks,
    promises,
    crowds,
    worst_groups,
    ladder,
    columns,
    changed,
    pairs,
    queries,
    learning,
    losses,
)

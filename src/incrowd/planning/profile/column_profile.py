"""One column of a profile."""

from __future__ import annotations

from typing import Any

from incrowd.common.records import dataclass
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.planning.profile.facts import Look
from incrowd.planning.profile.vocabulary import Role
from incrowd.publishing.recipe_format import hierarchy_to_dict


@dataclass(frozen=True)
class ColumnProfile:
    """One column: what is in it, and what is proposed for it."""

    name: str
    role: Role
    reason: str
    unsure: bool
    concept: str | None
    """What it was taken for (`birth`, `money`, …), if it was recognised."""
    distinct: int
    """Distinct values, not counting missing."""
    distinct_exact: bool
    missing: int
    largest_share: float | None
    """Share of rows that hold the most frequent value, where that was counted."""
    separation: float
    hierarchy: Hierarchy | None = None
    label: str | None = None
    """What a statistics program's file says that it holds."""
    look: Look | None = None
    """What its values are, as far as that is known: numbers, dates, texts."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, without any value of the table: the recipe lists those of categories."""
        return {
            "name": self.name,
            "role": self.role,
            "reason": self.reason,
            "unsure": self.unsure,
            "concept": self.concept,
            **({} if self.label is None else {"label": self.label}),
            "distinct": self.distinct,
            "distinct_exact": self.distinct_exact,
            "missing": self.missing,
            "largest_share": self.largest_share,
            "separation": self.separation,
            "hierarchy": None if self.hierarchy is None else _described(self.hierarchy),
        }


def _described(hierarchy: Hierarchy) -> dict[str, Any]:
    """Return what a recipe says of a hierarchy, with the number of a group's values in place of the values."""
    described = hierarchy_to_dict(hierarchy)
    tree = described.get("tree")
    if tree is not None:
        described["tree"] = len(tree) if isinstance(tree, list) else {group: len(tree[group]) for group in tree}
    return described

"""What is known of columns that are changed before they are published; `engines/changing.py` changes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from incrowd.changes.change import Change
from incrowd.common.records import dataclass
from incrowd.hierarchies.hierarchy import Hierarchy


@dataclass(frozen=True)
class ChangeFacts:
    """What is known of a release's changed columns: what was done to each, in order, and what analysts need of it."""

    columns: Mapping[str, tuple[Change, ...]] = field(default_factory=dict)
    told: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """For each column and each change: name, parameters, and what was taken from the table, such as a variance."""
    banded: Mapping[str, Hierarchy] = field(default_factory=dict)
    """Hierarchies by which columns were banded."""

    @property
    def by_chance(self) -> tuple[str, ...]:
        """Columns that chance changed."""
        return tuple(name for name, changes in self.columns.items() if any(one.by_chance for one in changes))

    def says(self, name: str) -> str:
        """Return what was done to a column, in words."""
        return ", then ".join(change.says() for change in self.columns[name])

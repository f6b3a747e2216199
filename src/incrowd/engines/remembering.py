"""The local engine with a memory: what was counted once is not counted again, while somebody tries one way to publish
after another.

Rows are counted by their raw values, so that other hierarchies, models and methods find the same counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Any

import polars as pl

from incrowd.common.arrays import Counts
from incrowd.common.records import dataclass
from incrowd.core.engine import OwnedTuples
from incrowd.core.schema import Schema
from incrowd.core.source import OpenedTable
from incrowd.engines.local import LocalEngine

MOST_REMEMBERED = 4
"""Counts of so many sets of columns are held; older ones go."""


@dataclass(frozen=True, eq=False)
class RememberingEngine(LocalEngine):
    """Rows on this machine, and what was counted of them. It has no name of its own: nobody opens a table with it."""

    source: OpenedTable
    memory: dict[Any, Any] = field(default_factory=dict, repr=False)

    def as_stated(self) -> LocalEngine:
        """Leave out what was found out, and so what was counted of it."""
        return self if self.source.stated is None else replace(self, source=self.source.stated(), memory={})

    def distinct(self, columns: Sequence[str]) -> tuple[pl.DataFrame, Counts]:
        """Count distinct tuples, once for each set of columns."""
        key = ("distinct", tuple(columns))
        found: tuple[pl.DataFrame, Counts] = self._recall(key, lambda: super(RememberingEngine, self).distinct(columns))
        return found

    def owned(self, schema: Schema, *, found_again: bool) -> OwnedTuples:
        """Count tuples and whose they are, once for each set of columns."""
        key = ("owned", schema.tallied, schema.owned_by, schema.found_again_by, tuple(schema.items), found_again)
        found: OwnedTuples = self._recall(
            key, lambda: super(RememberingEngine, self).owned(schema, found_again=found_again)
        )
        return found

    def repeated(self, columns: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Count the different values of columns that name people, once."""
        key = ("repeated", tuple(columns))
        found: dict[str, tuple[int, int]] = self._recall(key, lambda: super(RememberingEngine, self).repeated(columns))
        return found

    def _recall(self, key: Any, count: Callable[[], Any]) -> Any:
        self.source.require_unchanged()  # what is remembered of another file is of no use
        if key not in self.memory:
            while len(self.memory) >= MOST_REMEMBERED:
                del self.memory[next(iter(self.memory))]
            self.memory[key] = count()
        return self.memory[key]

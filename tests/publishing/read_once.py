"""An engine for audits that publish one table hundreds of times."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from incrowd.core.engine import Engine, OwnedTuples
from incrowd.core.schema import Schema
from incrowd.engines.local import LocalEngine
from incrowd.publishing.table import Table


@dataclass(frozen=True, eq=False)
class ReadOnce(LocalEngine):
    """Rows that do not change, so that many runs read and code them once."""

    found: dict[str, Any] = field(default_factory=dict)

    def owned(self, schema: Schema, *, found_again: bool) -> OwnedTuples:
        if "rows" not in self.found:
            self.found["rows"] = super().owned(schema, found_again=found_again)
        rows: OwnedTuples = self.found["rows"]
        return rows

    def _coded(self, owned: OwnedTuples, schema: Schema, population: Engine | None) -> Any:
        if "tally" not in self.found:
            self.found["tally"] = super()._coded(owned, schema, population)
        return self.found["tally"]


def read_once(table: Table, engine: type[ReadOnce] = ReadOnce) -> Table:
    """Return a table whose rows are read and coded when they are first needed, and never again."""
    return replace(table, engine=engine(table.engine.source))  # type: ignore[arg-type]

"""Tables and releases as a notebook shows them: what they are, and nothing that is not published anyway."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import polars.selectors as cs

from incrowd.core.schema import Schema
from incrowd.report.html import Child, Raw, element, table
from incrowd.report.notebook import framed

_MOST_ROWS = 5


def table_html(schema: Schema) -> str:
    """Return every column's role and how it may become less specific; no row is read."""
    rows: list[tuple[Child, ...]] = []
    for role, hierarchies in (("quasi-identifier", schema.quasi), ("sensitive", schema.sensitive)):
        rows += [(name, role, hierarchy.name) for name, hierarchy in hierarchies.items()]
    for role, names in (("pseudonym", schema.pseudonyms), ("kept", schema.kept), ("removed", schema.removed)):
        rows += [(name, role, "") for name in names]
    rows += [(name, "weight", "") for name in schema.weights]
    rows += [(name, "date", treatment.name) for name, treatment in schema.dates.items()]
    return framed("Table", table(["column", "role", "hierarchy"], rows))


def release_html(
    heading: str, told: str, guarantees: Sequence[str], warnings: Sequence[str], first: pl.DataFrame | None
) -> str:
    """Return what a release guarantees, how large its groups are, and the first of its rows."""
    listed = element("ul", *(element("li", guarantee) for guarantee in guarantees))
    notes = [element("p", warning, class_="note") for warning in warnings]
    return framed(heading, element("p", told), listed, *notes, _first_rows(first))


def _first_rows(first: pl.DataFrame | None) -> Raw | None:
    if first is None or not first.height:
        return None
    plain = first.head(_MOST_ROWS).with_columns(cs.list().list.join("; "))
    rows = plain.select(pl.all().cast(pl.String)).rows()
    return table(first.columns, [["" if cell is None else cell for cell in row] for row in rows])

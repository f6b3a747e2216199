"""Columns that nobody named and that look as if they told whose a row is: a check of such a table would count rows.

Somebody who has several rows is the same in some columns of all of them. So a column is taken for one that tells people
apart if its values repeat, and two quasi-identifiers that have nothing to do with each other are the same wherever it
is: those of a person. Cost: a count of distinct values for each column that was not named, and for few of them more.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import polars as pl
import polars.selectors as cs

from incrowd.common.surface import as_role, option
from incrowd.core.source import OpenedTable
from incrowd.errors import SchemaError
from incrowd.sources import reading

FEWEST_PEOPLE = 20
"""Of fewer values it cannot be said whether they are people."""


def refuse_unnamed_people(table: OpenedTable, quasi: Sequence[str], others: Sequence[str]) -> None:
    """Refuse a table in which one of the `others` seems to tell whose a row is."""
    if len(quasi) < 2 or not others:
        return
    distinct = _distinct(table, [(name,) for name in (*quasi, *others)])
    with reading(table):
        rows = int(table.frame.select(pl.len()).collect(engine="streaming").item())
    for name in others:
        people = distinct[(name,)]
        if not FEWEST_PEOPLE <= people < rows:
            continue
        known = [column for column in quasi if 1 < distinct[(column,)] <= people]
        within = _distinct(table, [(name, column) for column in known])
        same = [column for column in known if within[name, column] == people]
        pairs = list(combinations(same, 2))
        together = _distinct(table, pairs)
        if any(together[pair] > max(distinct[pair[:1]], distinct[pair[1:]]) for pair in pairs):
            raise SchemaError(
                f"column '{name}' repeats ({people:,} values in {rows:,} rows), and {same[0]} and {same[1]} stay the "
                f"same within each value: it seems to tell whose a row is.  Hint: {as_role('person', name)} counts "
                f"people; {option('each_row_a_person', True)} if each row is a person of its own."
            )


def _distinct(table: OpenedTable, chosen: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], int]:
    """Return how many different values, or tuples of them, some columns have: one scan for all."""
    if not chosen:
        return {}
    counts = [
        pl.struct(cs.by_name(name).as_expr().alias(f"c{place}") for place, name in enumerate(names))
        .n_unique()
        .alias(str(number))
        for number, names in enumerate(chosen)
    ]
    with reading(table):
        found = table.frame.select(counts).collect(engine="streaming").row(0)
    return dict(zip(chosen, found, strict=True))

"""A hierarchy level by level, over the values of its column: what a release will be made with, and nothing else.

The tree is the one that `publish` builds, so that what is shown is what is applied.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from incrowd.common.arrays import Counts
from incrowd.common.records import dataclass
from incrowd.core.source import OpenedTable
from incrowd.core.tally import code_column
from incrowd.errors import SchemaError, UncoveredValue, similar_columns
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.tree import MISSING, Tree
from incrowd.planning.profile.facts import ColumnFacts
from incrowd.sources import reading

MOST_NODES = 500
"""So many nodes of a level are listed."""
_COUNT = "count of rows"


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """The distinct values of a column as they are read, and how many rows have each."""

    column: str
    values: pl.Series
    counts: Counts
    source: OpenedTable

    @classmethod
    def of(cls, source: OpenedTable, column: str) -> ColumnValues:
        """Count the values of a column: one streamed pass."""
        if column not in source.columns:
            raise SchemaError(f"there is no column '{column}'.{similar_columns(column, source.columns)}")
        with reading(source):
            found = (
                source.frame.select(cs.by_name(column).as_expr().alias("c"))
                .group_by("c")
                .agg(pl.len().cast(pl.Int64).alias(_COUNT))
                .collect(engine="streaming")
            )
        return cls(column, found["c"].alias(""), found[_COUNT].to_numpy(), source)

    @classmethod
    def known(cls, source: OpenedTable, facts: ColumnFacts) -> ColumnValues | None:
        """Return what a profile has counted already; None where it did not count every value."""
        if facts.counts is None or not facts.complete:
            return None
        nothing = pl.Series([None], dtype=facts.values.dtype)
        values = pl.concat([facts.values.alias(""), nothing])
        counts = np.append(facts.counts.cast(pl.Int64).to_numpy(), np.int64(facts.missing))
        return cls(facts.name, values, counts, source)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.counts.sum())


@dataclass(frozen=True, eq=False)
class Looked:
    """A hierarchy that has met its column, or the values that it lacks."""

    hierarchy: Hierarchy
    column: ColumnValues
    tree: Tree | None
    counts: Counts
    """Rows of each code."""
    uncovered: UncoveredValue | None = None

    @property
    def covered(self) -> bool:
        """Whether it has a place for every value."""
        return self.uncovered is None

    def to_dict(self, *, most: int = MOST_NODES) -> dict[str, Any]:
        """Return plain values for JSON: for the table's owner, since they name values."""
        tree, lacking = self.tree, self.uncovered
        told: dict[str, Any] = {
            "column": self.column.column,
            "kind": self.hierarchy.name,
            "rows": self.column.rows,
            "covered": self.covered,
            "uncovered": None
            if lacking is None
            else {"count": lacking.total, "values": [str(value) for value in lacking.values]},
        }
        if tree is None:
            return {
                **told,
                "levels": [],
                "height": 0,
                "ordered": False,
                "numeric": False,
                "from_data": True,
                "missing": 0,
            }
        return {
            **told,
            "levels": [_level(tree, self.counts, level, most) for level in range(tree.height + 1)],
            "height": tree.height,
            "ordered": tree.ordered,
            "numeric": tree.kind == "number",
            "cuts": self.cuts() if tree.kind == "number" else None,
            "from_data": tree.from_data,
            "missing": int(self.counts[MISSING]),
        }

    def rows_of_values(self) -> list[tuple[str, ...]]:
        """Return each value with what it is called at every level, the root included: a hierarchy's file."""
        tree = self.tree
        if tree is None:
            return []
        levels = [tree.names[level].gather(tree.nodes[level, 1:]).to_list() for level in range(tree.height + 1)]
        return list(zip(*levels, strict=True))

    def cuts(self) -> list[list[float]]:
        """Return where each level above the values cuts a column of numbers, the finest first, the root left out."""
        tree = self.tree
        if tree is None or tree.kind != "number":
            return []
        found = []
        for level in range(1, tree.height):
            starts = np.unique(tree.starts[level, 1:])[1:]
            edges = tree.edges.gather(starts).drop_nulls()
            found.append(sorted(set(edges.cast(pl.Float64).to_list())))
        return found


def look_at(hierarchy: Hierarchy, column: ColumnValues) -> Looked:
    """Let a hierarchy meet a column; one that lacks values says which, and is not refused."""
    try:
        tree, codes = code_column(column.column, column.values, hierarchy, column.source.texts)
    except UncoveredValue as lacking:
        return Looked(hierarchy, column, None, np.zeros(1, dtype=np.int64), lacking)
    counts = np.bincount(codes, weights=column.counts, minlength=tree.leaves).astype(np.int64)
    return Looked(hierarchy, column, tree, counts)


def _level(tree: Tree, counts: Counts, level: int, most: int) -> dict[str, Any]:
    """Return the nodes of a level in the order of a walk through the tree; missing has a place of its own."""
    codes = np.arange(1, tree.leaves)
    nodes = tree.nodes[level, 1:]
    number = len(tree.names[level])
    first = np.full(number, tree.leaves, dtype=np.int64)
    np.minimum.at(first, nodes, codes)
    last = np.zeros(number, dtype=np.int64)
    np.maximum.at(last, nodes, codes)
    rows = np.bincount(nodes, weights=counts[1:], minlength=number).astype(np.int64)
    values = np.bincount(nodes, minlength=number)
    there = np.flatnonzero(values)
    there = there[np.argsort(first[there], kind="stable")]
    listed = there[:most]
    names = tree.names[level]
    above = tree.nodes[min(level + 1, tree.height)]
    found = [
        {
            "node": int(node),
            "name": str(names[int(node)]),
            "count": int(rows[node]),
            "values": int(values[node]),
            "parent": int(above[first[node]]),
            **_reach(tree, int(first[node]), int(last[node])),
        }
        for node in listed.tolist()
    ]
    return {"level": level, "nodes": len(there), "listed": found, "left_out": len(there) - len(listed)}


def _reach(tree: Tree, first: int, last: int) -> Mapping[str, Any]:
    if tree.kind != "number":
        return {}
    return {"from": float(tree.positions[first]), "to": float(tree.positions[last])}

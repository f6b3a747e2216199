"""A category tree for a table that may hold other values: all of these are one leaf, which no label names."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import polars as pl

from incrowd.common.arrays import Codes
from incrowd.common.records import dataclass
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.texts import code_names
from incrowd.hierarchies.tree import Tree
from incrowd.hierarchies.values import as_text

NOT_LISTED = "\0not listed"
"""Stands for every value that a tree does not list; no text of a table holds a zero byte."""


@dataclass(frozen=True)
class OthersApart(Hierarchy):
    """Categories for which a value that is not listed is no error: it is apart from all others, under the root."""

    declared: Categories
    name: ClassVar[str] = "others apart"
    listed: ClassVar[bool] = False

    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        """Build the tree as it is declared, with one leaf more where the column holds other values."""
        text = as_text(values)
        leaves = pl.Series([row[0] for row in self.declared.rows], dtype=pl.String)
        others = text.is_not_null() & pl.Series(code_names(text, leaves) < 0)
        if not others.any():
            return self.declared.build(column, values)
        apart = (NOT_LISTED,) * len(self.declared.rows[0])
        wider = Categories((*self.declared.rows, apart), self.declared.taken_from)
        tree, codes = wider.build(
            column, pl.select(pl.when(others).then(pl.lit(NOT_LISTED)).otherwise(text)).to_series()
        )
        return replace(tree, declared=False), codes

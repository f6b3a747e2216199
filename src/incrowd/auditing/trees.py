"""The values that the columns of a published table may have, from whatever is known of them."""

from __future__ import annotations

import polars as pl

from incrowd.engines.sources import Source
from incrowd.errors import HierarchyError, SchemaError
from incrowd.hierarchies import Exact, Hierarchy
from incrowd.hierarchies.public import public_tree
from incrowd.hierarchies.tree import Tree


def tree_of_labels(column: str, hierarchy: Hierarchy, labels: pl.Series, external: Source | None) -> Tree:
    """Return the tree by which a column's labels are read, where the table before is not known.

    The values are those of the external table where it has the column, else what the hierarchy itself declares, else
    the labels: then each stands for itself alone.
    """
    if external is not None and column in external.columns:
        from polars import selectors as cs

        values = external.frame.select(cs.by_name(column)).unique().collect(engine="streaming")[column]
        return hierarchy.build(column, values.alias(""))[0]
    try:
        return public_tree(column, hierarchy)
    except (SchemaError, HierarchyError):
        return Exact().build(column, labels.unique().alias(""))[0]

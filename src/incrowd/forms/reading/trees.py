"""The values that the columns of a published table may have, from whatever is known of them."""

from __future__ import annotations

import polars as pl
import polars.selectors as cs

from incrowd.core.source import OpenedTable
from incrowd.errors import HierarchyError, SchemaError, UnreadableLabel
from incrowd.forms.reading.foreign_labels import mentioned, standard_labels
from incrowd.hierarchies.calendar import first_day
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.meaning import label_masks
from incrowd.hierarchies.public import public_tree
from incrowd.hierarchies.tree import Tree
from incrowd.hierarchies.values import as_dates, as_numbers, as_text, distinct_values
from incrowd.sources import reading


def tree_of_labels(column: str, hierarchy: Hierarchy, labels: pl.Series, external: OpenedTable | None = None) -> Tree:
    """Return the tree by which a column's labels are read, where the table before is not known.

    The values are what the hierarchy itself declares, else those of the external table where it has the column, and
    what labels mention besides; else the labels: then each stands for itself alone.
    """
    try:
        return public_tree(column, hierarchy)
    except (SchemaError, HierarchyError):
        pass
    distinct = distinct_values(labels.alias(""))
    if external is None or column not in external.columns:
        return Exact().build(column, distinct)[0]
    with reading(external):
        values = external.frame.select(cs.by_name(column)).unique().collect(engine="streaming")[column].alias("")
    tree = hierarchy.build(column, values)[0]
    strange = [label for label in distinct.drop_nulls().to_list() if not _reads(column, tree, label)]
    if not strange:
        return tree
    # Nobody in the external table is behind these labels; whoever is has the values that they mention.
    extra = pl.Series([name for label in strange for name in mentioned(str(label), ordered=tree.ordered)])
    parsed = extra.cast(pl.String)
    if tree.ordered:
        dates = tree.values.dtype.is_temporal()
        parsed = pl.Series([first_day(name) for name in parsed], dtype=pl.String) if dates else parsed
        parsed = parsed.filter(pl.Series([_is_one(name, dates=dates) for name in parsed], dtype=pl.Boolean))
    return hierarchy.build(column, pl.concat([as_text(values), parsed]).unique())[0]


def _reads(column: str, tree: Tree, label: object) -> bool:
    try:
        label_masks(column, tree, standard_labels(tree, pl.Series([str(label)])))
    except UnreadableLabel:
        return False
    return True


def _is_one(text: str, *, dates: bool) -> bool:
    """Whether a text is a number, or a date."""
    found = as_dates(pl.Series([text])) if dates else as_numbers(pl.Series([text]))
    return found is not None and not found.null_count()

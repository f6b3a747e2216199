"""Tables, hierarchies and releases as a notebook shows them: what they are, and nothing that is not published anyway.

Notebooks are saved with what they show, so no value of a table's row is in it.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from incrowd.report.html import Child, Raw, element, joined, table
from incrowd.report.numbers import number
from incrowd.report.style import STYLE

if TYPE_CHECKING:
    from incrowd.hierarchies.categories import Categories
    from incrowd.hierarchies.tree import Tree
    from incrowd.releases.release import Release
    from incrowd.table import Table

_MOST_NODES, _MOST_ROWS = 12, 5
_ROLES = (
    ("quasi-identifier", "quasi"),
    ("sensitive", "sensitive"),
    ("pseudonym", "pseudonyms"),
    ("kept", "kept"),
    ("removed", "removed"),
)


def table_html(shown: Table) -> str:
    """Return every column's role and how it may become less specific; no row is read."""
    rows: list[tuple[Child, ...]] = []
    for role, attribute in _ROLES:
        named = getattr(shown.schema, attribute)
        rows += [(name, role, named[name].name if isinstance(named, dict) else "") for name in named]
    return _framed("Table", table(["column", "role", "hierarchy"], rows))


def release_html(shown: Release) -> str:
    """Return what a release promises, how large its groups are, and the first of its rows."""
    sizes = np.sort(shown.form.group_sizes)
    told = f"{number(shown.rows)} rows in {number(len(sizes))} groups"
    if len(sizes) and not shown.hides_rows:
        told += f" of {number(int(sizes[0]))} to {number(int(sizes[-1]))}"
    if "withheld" in shown.row_numbers:
        told += f"; {number(shown.withheld)} rows withheld"
    promises = element("ul", *(element("li", f"{entry['statement']}, {entry['basis']}") for entry in shown.promises))
    notes = [element("p", warning, class_="note") for warning in shown.warnings]
    return _framed(
        f"Release: {shown.form.name}, by {shown.method.name}", element("p", told), promises, *notes, _first_rows(shown)
    )


def tree_html(shown: Tree) -> str:
    """Return the upper nodes of a tree; values that were taken from a table are not among them."""
    lowest = 1 if shown.from_data or shown.height > 1 else 0
    levels = f"{number(shown.size - 1)} values ({shown.kind}), {shown.height} steps up to *"
    return _framed("Hierarchy", element("p", levels), _nodes(shown, shown.height, 0, shown.size, lowest))


def categories_html(shown: Categories) -> str:
    """Return the first nodes of a hierarchy of names."""
    from incrowd.hierarchies.public import public_tree

    tree = public_tree("", shown)
    told = f"{number(tree.size - 1)} values, {tree.height} steps up to *"
    return _framed("Categories", element("p", told), _nodes(tree, tree.height, 0, tree.size, 0))


def _nodes(tree: Tree, level: int, low: int, high: int, lowest: int) -> Raw | None:
    """Return the nodes below a node that holds these codes, as nested lists, some of each."""
    if level <= lowest:
        return None
    below = level - 1
    starts = np.unique(tree.starts[below, max(low, 1) : high])
    items: list[Child] = []
    for start in islice(starts.tolist(), _MOST_NODES):
        end = int(tree.ends[below, start])
        name = tree.names[below][int(tree.nodes[below, start])]
        items.append(element("li", str(name), _nodes(tree, below, start, end, lowest)))
    if len(starts) > _MOST_NODES:
        items.append(element("li", f"… {number(len(starts) - _MOST_NODES)} more", class_="faint"))
    return element("ul", *items)


def _first_rows(shown: Release) -> Raw | None:
    if shown.source.native == "spark":
        return None  # a look must not start a job on a cluster
    first = next(iter(shown.make_batches()), None)
    if first is None or not first.height:
        return None
    rows = first.head(_MOST_ROWS).select(pl.all().cast(pl.String)).rows()
    return table(first.columns, [["" if cell is None else cell for cell in row] for row in rows])


def _framed(heading: str, *parts: Child) -> str:
    return joined([element("style", Raw(STYLE)), element("div", element("strong", heading), *parts, class_="incrowd")])

"""Hierarchies as a notebook shows them: their upper nodes, and no value that only a table has."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Protocol

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes
from incrowd.report.html import Child, Raw, element
from incrowd.report.notebook import framed
from incrowd.report.numbers import number

_MOST_NODES = 12


class Nodes(Protocol):
    """A tree, as far as it is drawn."""

    @property
    def names(self) -> Sequence[pl.Series]:
        """The names of the nodes of each level."""
        ...

    @property
    def nodes(self) -> Codes:
        """The node of each code at each level."""
        ...

    @property
    def starts(self) -> Codes:
        """The first code of each code's node."""
        ...

    @property
    def ends(self) -> Codes:
        """The code after its last one."""
        ...

    @property
    def kind(self) -> str:
        """Numbers, dates or text."""
        ...

    @property
    def from_data(self) -> bool:
        """Whether its values were taken from a table."""
        ...

    @property
    def height(self) -> int:
        """Steps up to the root."""
        ...

    @property
    def size(self) -> int:
        """Values, missing included."""
        ...


def tree_html(shown: Nodes) -> str:
    """Return the upper nodes of a tree; values that were taken from a table are not among them."""
    lowest = 1 if shown.from_data or shown.height > 1 else 0
    levels = f"{number(shown.size - 1)} values ({shown.kind}), {shown.height} steps up to *"
    return framed("Hierarchy", element("p", levels), _nodes(shown, shown.height, 0, shown.size, lowest))


def categories_html(tree: Nodes) -> str:
    """Return the first nodes of a hierarchy of names."""
    told = f"{number(tree.size - 1)} values, {tree.height} steps up to *"
    return framed("Categories", element("p", told), _nodes(tree, tree.height, 0, tree.size, int(tree.from_data)))


def _nodes(tree: Nodes, level: int, low: int, high: int, lowest: int) -> Raw | None:
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

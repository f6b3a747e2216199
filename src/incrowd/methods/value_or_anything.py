"""Trees in which a value is shown as itself or as anything: those of suppressed cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from incrowd.core.tally import Tally
from incrowd.hierarchies.tree import Tree


def with_single_cells(tally: Tally, columns: Sequence[str]) -> Tally:
    """Return a tally whose columns show a value or `*`."""
    return replace(tally, trees={**tally.trees, **{name: _value_or_anything(tally.trees[name]) for name in columns}})


def _value_or_anything(tree: Tree) -> Tree:
    """Return a tree in which a value is itself or anything."""
    ends = [0, -1] if tree.height else [0]
    return replace(tree, nodes=np.ascontiguousarray(tree.nodes[ends]), names=tuple(tree.names[at] for at in ends))

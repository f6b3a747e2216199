"""Cuts through the columns' hierarchies, as a list of specializations: every value is shown as one run of codes.

A run is specialized into its node's children, or, in a column of numbers, in two at a point. The runs of a column are
the same for everybody, so the boxes of a table are all combinations of its columns' runs, whoever is in them.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np

from incrowd.common.records import dataclass
from incrowd.hierarchies.tree import MISSING, Tree

Run = tuple[int, int]


@dataclass(frozen=True)
class Specialization:
    """A run of a column and the runs that take its place."""

    column: int
    run: Run
    children: tuple[Run, ...]


@dataclass
class Cut:
    """One column's runs at some moment; `depth` is how often what is now a run has been specialized."""

    tree: Tree
    missing: bool
    runs: list[Run] = field(default_factory=list)
    depth: dict[Run, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        root = (MISSING if self.missing else min(1, self.tree.size - 1), self.tree.size)
        self.runs, self.depth = [root], {root: 0}

    @classmethod
    def at_level(cls, tree: Tree, level: int, *, missing: bool) -> Cut:
        """Return a cut through all nodes of a level; missing is a node of its own below the root."""
        cut = cls(tree, missing)
        if level < tree.height:
            starts = np.unique(tree.starts[level])
            runs = zip(starts.tolist(), [*starts[1:].tolist(), tree.size], strict=True)
            cut.runs = [run for run in runs if missing or run[0] != MISSING]
            cut.depth = dict.fromkeys(cut.runs, 1)
        return cut

    def children(self, run: Run) -> tuple[Run, ...]:
        """Return the runs of the nodes just below a node; none for a single value."""
        low, high = run
        if high - low <= 1:
            return ()
        if low == MISSING:
            rest = (1, high)
            return ((MISSING, 1), *(self.children(rest) if self.tree.size > 2 else (rest,)))
        for level in range(self.tree.height - 1, -1, -1):
            nodes = self.tree.nodes[level, low:high]
            if nodes[0] != nodes[-1]:
                starts = low + np.flatnonzero(np.diff(nodes, prepend=nodes[0] - 1))
                ends = [*starts[1:].tolist(), high]
                return tuple(zip(starts.tolist(), ends, strict=True))
        return ()

    def specialize(self, run: Run, children: tuple[Run, ...]) -> None:
        """Put children in the place of their run."""
        place = self.runs.index(run)
        self.runs[place : place + 1] = children
        depth = self.depth.pop(run) + 1
        self.depth.update(dict.fromkeys(children, depth))

"""An exact search for the level vector that loses least.

It looks at a node (a vector of levels) only if it may still beat the best one found. Three facts bound a node from
below without looking at it. Its loss with nothing withheld is a sum over columns, known beforehand. A row whose group
is too small at a node is in a group at least as small at every more specific node, so what withholding it adds at one
node it adds, at least, at all nodes below. And a node that must withhold more than the limit for that reason rules out
all below it. Nodes are looked at from the top, since each rules out or bounds all below.

Cost: nodes looked at × rows of the table that they are counted from; that table is already grouped by the levels of the
columns with the most values, so it is much smaller than the tally.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.methods.lattice import Floats, Lattice, Levels, Rows
from incrowd.models.model import Model, least_failing, satisfies_all
from incrowd.progress import Progress
from incrowd.recoding import WITHHELD, Recoding
from incrowd.tally import Counts

_COLUMNS_MERGED_FIRST = (3, 6)
"""Rows are added up by the levels of the three columns with the most values, then by those of the first six."""
_SAME_COST = 1e-12


@dataclass(frozen=True, eq=False)
class Look:
    """What was found at a node: its cost, rows withheld, and the part of both that holds for all nodes below."""

    levels: Levels
    cost: float
    withheld: int
    withheld_below: int
    added_below: float


class LevelSearch:
    """One search: the nodes that may still win, and what has been looked at."""

    def __init__(self, lattice: Lattice, require: Sequence[Model], limit: float) -> None:
        self._lattice, self._require = lattice, tuple(require)
        self._rows = lattice.tally.rows
        # A table without rows is no release, whatever the limit.
        self._most_withheld = min(int(np.floor(limit * self._rows + 1e-9)), self._rows - 1)
        self._min_group = max((model.min_group for model in require), default=1)
        self._prunes_by_verdict = self._most_withheld == 0 and all(model.monotone for model in require)
        columns = range(len(lattice.columns))
        self._by_size = np.array(sorted(columns, key=lambda place: (-lattice.trees[place].size, place)))
        self._tables: dict[tuple[int, ...], Rows] = {}
        self.looks: list[Look] = []

    def run(self, progress: Progress, *, seconds: float | None = None) -> Look | None:
        """Return the best node, or None if none stays within the limit; an interrupt or time-out keeps the best."""
        end = np.inf if seconds is None else time.monotonic() + seconds
        nodes = self._lattice.nodes()
        bound = self._lattice.mean_losses(nodes)
        added = np.zeros(len(nodes))
        open_nodes = np.ones(len(nodes), dtype=bool)
        best: Look | None = None
        try:
            for place in np.lexsort((bound, -nodes.sum(axis=1, dtype=np.int64))).tolist():
                if not open_nodes[place]:
                    continue
                if time.monotonic() > end:
                    break
                look = self.look(nodes[place], float(bound[place]), np.inf if best is None else best.cost)
                self.looks.append(look)
                open_nodes[place] = False
                below = _below(nodes, open_nodes, nodes[place])
                if look.withheld_below > self._most_withheld:
                    open_nodes &= ~below
                else:
                    added[below] = np.maximum(added[below], look.added_below)
                if look.withheld <= self._most_withheld and (best is None or _better(look, best)):
                    best = look
                if best is not None:
                    open_nodes &= bound + added <= best.cost + _SAME_COST
                progress("searching", 1.0 - float(open_nodes.sum()) / len(nodes))
        except KeyboardInterrupt:
            if best is None:
                raise
        return best

    def look(self, levels: Levels, unwithheld: float, to_beat: float = np.inf) -> Look:
        """Count the groups at a node and judge them; skip the models where it cannot beat the best any more."""
        lattice = self._lattice
        rows = self._table(levels)
        group_of, groups = lattice.group(rows, levels)
        losses = lattice.row_losses(rows, levels)
        sizes, small, added = lattice.kernel.total_small(rows.counts, group_of, groups, losses, self._min_group)
        added /= self._rows
        if small > self._most_withheld or unwithheld + added > to_beat + _SAME_COST:
            return Look(levels, unwithheld + added, small, small, added)
        judged = lattice.as_groups(rows, group_of, sizes)
        cost_of_withholding = np.bincount(group_of, rows.counts * (1.0 - losses), groups).astype(np.float64)
        failing = (~satisfies_all(self._require, judged)).astype(np.float64)
        withheld, extra = self._withholding(failing, sizes, cost_of_withholding)
        if self._prunes_by_verdict:
            return Look(levels, unwithheld + extra, int(withheld), int(withheld), extra)
        must_fail = np.maximum(sizes < self._min_group, least_failing(self._require, judged))
        below, added = self._withholding(must_fail, sizes, cost_of_withholding)
        return Look(levels, unwithheld + extra, int(withheld), math.ceil(below - 1e-6), added)

    def _withholding(self, share: Floats, sizes: Counts, cost: Floats) -> tuple[float, float]:
        """Return how many rows are withheld if a share of each group is, and what that adds to the loss.

        A group's rows all show the same, so that they lose the same; rows of a more specific node lose no more.
        """
        return float((share * sizes).sum()), float((share * cost).sum()) / self._rows

    def _table(self, levels: Levels, stage: int = len(_COLUMNS_MERGED_FIRST)) -> Rows:
        """Return rows already added up by the node's levels of the columns with the most values, stage by stage."""
        if stage == 0:
            return self._lattice.rows
        merged = self._by_size[: _COLUMNS_MERGED_FIRST[stage - 1]]
        key = (stage, *levels[merged].tolist())
        if key not in self._tables:
            partly = np.zeros_like(levels)
            partly[merged] = levels[merged]
            self._tables[key] = self._lattice.merge(self._table(levels, stage - 1), partly)
        return self._tables[key]

    def recode(self, levels: Levels) -> Recoding:
        """Return the recoding of a level vector: failing groups are withheld."""
        lattice = self._lattice
        rows = lattice.all_rows()
        group_of, groups = lattice.group(rows, levels)
        sizes = np.bincount(group_of, weights=rows.counts, minlength=groups).astype(np.int64)
        kept = satisfies_all(self._require, lattice.as_groups(rows, group_of, sizes))
        renumbered = np.where(kept, np.cumsum(kept) - 1, WITHHELD)
        member = np.zeros(groups, dtype=np.int64)
        member[group_of] = np.arange(len(group_of))
        lows, highs = lattice.runs(rows.codes[member[kept]], levels)
        return Recoding(
            np.arange(len(rows.counts)),
            rows.counts,
            renumbered[group_of],
            lattice.columns,
            lows,
            highs,
            "level",
            tuple(levels.tolist()),
        )

    def failure(self) -> str:
        """Say why no node is good enough, and how far the best attempt got."""
        nearest = min(self.looks, key=lambda look: (look.withheld, look.cost))
        names = ", ".join(str(model) for model in self._require)
        return (
            f"no vector of levels satisfies {names} with at most {self._most_withheld:,} of {self._rows:,} rows "
            f"withheld; the best of {len(self.looks):,} looked at would withhold {nearest.withheld:,}.  "
            "Hint: raise the limit, or ask for less."
        )


def _below(nodes: Levels, open_nodes: NDArray[np.bool_], levels: Levels) -> NDArray[np.bool_]:
    """Return which open nodes are more specific than a vector."""
    below = open_nodes.copy()
    for column, level in enumerate(levels):
        below &= nodes[:, column] <= level
    return below


def _better(look: Look, best: Look) -> bool:
    """Whether a node is better; equal costs go to the lower levels, so that the order of looking does not matter."""
    if look.cost < best.cost - _SAME_COST:
        return True
    return look.cost <= best.cost + _SAME_COST and tuple(look.levels) < tuple(best.levels)

"""Losses that all columns decide together, by the names of the metrics that measure them.

`ambiguity` (Goldberger & Tassa 2010), `discernibility` (Bayardo & Agrawal 2005) and `average-group-size` (LeFevre et
al. 2006). A row loses from 0 to 1, no less at higher levels, and 1 if it is withheld: that is all that a search needs
to know. Cost: one pass over each hierarchy, and one over the groups of each vector that is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np

from incrowd.common.arrays import Counts, Floats
from incrowd.core.tally import Tally
from incrowd.methods.losses import node_runs


class GroupLoss(Protocol):
    """A loss that all columns decide together; made for a tally and the columns that are searched."""

    scores: list[Floats]
    """Per column, a number of each code at each level; the loss of a group's rows follows from their sum."""
    steps: list[Floats]
    """Per column, a number of each level; a bound of a vector's loss follows from their sum."""

    def bounds(self, steps: Floats) -> Floats:
        """Return what vectors lose at least, nothing being withheld, from the sums of their levels' numbers."""
        ...

    def of_groups(self, scores: Floats, sizes: Counts) -> Floats:
        """Return what a row of each group loses, from the sums of its columns' scores and the group's size."""
        ...

    def measured(self, mean: float) -> float:
        """Return what the metric of the same name says where a row loses so much on average."""
        ...


class Ambiguity:
    """The mean number of value combinations that a row may stand for, over that of all combinations."""

    def __init__(self, tally: Tally, columns: tuple[str, ...]) -> None:
        """Count the leaves of every node."""
        self.scores, self.steps, self._log_all = [], [], 0.0
        for name in columns:
            lows, highs = node_runs(tally, name)
            all_leaves = max(tally.trees[name].size - (not tally.has_missing(name)), 1)
            score = np.log(highs - lows) - np.log(all_leaves)
            self.scores.append(score)
            self.steps.append((score * tally.value_counts(name)).sum(axis=1) / max(tally.rows, 1))
            self._log_all += float(np.log(all_leaves))

    def bounds(self, steps: Floats) -> Floats:
        """Return the exponential of the mean logarithm, which is at most the mean."""
        return np.asarray(np.exp(steps))

    def of_groups(self, scores: Floats, sizes: Counts) -> Floats:
        """Return the product over columns."""
        return np.asarray(np.exp(scores))

    def measured(self, mean: float) -> float:
        """Return the logarithm of the mean over the one of all combinations."""
        if not self._log_all:
            return 0.0
        return float(np.clip(1.0 + np.log(mean) / self._log_all, 0.0, 1.0)) if mean > 0 else 0.0


class Discernibility:
    """The rows of each row's group, as a share of all rows."""

    def __init__(self, tally: Tally, columns: tuple[str, ...]) -> None:
        """Count the nodes of every level: groups are at most as many as combinations of them."""
        self.scores = [np.zeros(tally.trees[name].nodes.shape) for name in columns]
        self.steps = _log_nodes(tally, columns)
        self._rows = max(tally.rows, 1)

    def bounds(self, steps: Floats) -> Floats:
        """Return what groups of the same size lose: others lose more."""
        return np.asarray(np.exp(-np.minimum(steps, np.log(self._rows))) * (1 - 1e-9))

    def of_groups(self, scores: Floats, sizes: Counts) -> Floats:
        """Return the share."""
        return np.asarray(sizes / self._rows)

    def measured(self, mean: float) -> float:
        """Return the sum of squared sizes, withheld rows counted with all rows."""
        return mean * float(self._rows) ** 2


class AverageGroupSize:
    """1 minus the groups per row: the rows of the table over the groups that are published, in another form.

    The metric divides published rows alone, so that to withhold rows would be a gain; here it is not.
    """

    def __init__(self, tally: Tally, columns: tuple[str, ...]) -> None:
        """Count the nodes of every level: groups are at most as many as combinations of them."""
        self.scores = [np.zeros(tally.trees[name].nodes.shape) for name in columns]
        self.steps = _log_nodes(tally, columns)
        self._rows = max(tally.rows, 1)

    def bounds(self, steps: Floats) -> Floats:
        """Return what is lost if all combinations are groups."""
        most = np.exp(np.minimum(steps, np.log(self._rows))) * (1 + 1e-9)
        return np.asarray(1.0 - np.minimum(most / self._rows, 1.0))

    def of_groups(self, scores: Floats, sizes: Counts) -> Floats:
        """Return 1 minus each row's part of its group."""
        return np.asarray(1.0 - 1.0 / sizes)

    def measured(self, mean: float) -> float:
        """Return rows per group."""
        return 1.0 / (1.0 - mean) if mean < 1 else float("inf")


GROUP_LOSSES: Mapping[str, Callable[[Tally, tuple[str, ...]], GroupLoss]] = {
    "ambiguity": Ambiguity,
    "average-group-size": AverageGroupSize,
    "discernibility": Discernibility,
}


def _log_nodes(tally: Tally, columns: tuple[str, ...]) -> list[Floats]:
    """Return the logarithm of how many nodes of each level the column's rows are in."""
    steps = []
    for name in columns:
        occurs = np.flatnonzero(tally.value_counts(name))
        steps.append(np.log([max(len(np.unique(nodes[occurs])), 1) for nodes in tally.trees[name].nodes]))
    return steps

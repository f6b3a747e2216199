"""Boxes that were counted one by one, none inside of another: answers from the runs that they have.

A question is about the same share of all boxes that have the same runs in its columns. So these are added up first, and
kept where they are few: many questions are about the same columns, and most columns have one run where few
specializations were made. Cost: one pass over the boxes for each set of columns, or for each question where too much
would be kept (`box_runs.py`); and for each question the combinations of their runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from incrowd.common.arrays import Bools, Floats
from incrowd.common.records import dataclass
from incrowd.dp.boxes.box_runs import BoxRuns, ColumnRuns
from incrowd.dp.boxes.noisy_tree import NoisyTree


@dataclass(frozen=True, eq=False)
class FlatBoxes:
    """Boxes by their runs: the estimate of each class, and last the number of boxes."""

    divided: BoxRuns
    """Columns with several runs."""
    whole: Mapping[int, tuple[int, int]]
    """The run of each other column."""
    places: Mapping[int, int]
    """Where a column is among those with several runs."""
    variance: float
    """That of each count."""

    @classmethod
    def of(cls, tree: NoisyTree) -> FlatBoxes | None:
        """Look at some boxes; return None if there are none, some inside of others, or counts with different noise.

        Where nothing was counted, noise is infinite, and it is None, too.
        """
        same = len(tree.variances) > 0 and bool((tree.variances == tree.variances[0]).all())
        if not same or np.isinf(tree.variances[0]) or (tree.parents >= 0).any():
            return None
        columns: list[ColumnRuns] = []
        whole, places = {}, {}
        for column in range(tree.lows.shape[1]):
            lows, highs = tree.lows[:, column], tree.highs[:, column]
            if (lows == lows[0]).all() and (highs == highs[0]).all():
                whole[column] = int(lows[0]), int(highs[0])
            else:
                places[column] = len(columns)
                columns.append(ColumnRuns.of(lows, highs))
        rows = np.column_stack([tree.estimates, np.ones(len(tree.parents))])
        return cls(BoxRuns(tuple(columns), rows), whole, places, float(tree.variances[0]))

    def pays(self, asked: Iterable[int]) -> bool:
        """Whether boxes have few combinations of runs in some columns: else there is nothing to add up first."""
        runs = (len(self.divided.columns[self.places[column]]) for column in asked if column in self.places)
        return 2 * math.prod(runs) <= len(self.divided.rows)

    def parts(self, asked: Mapping[int, Bools], classes: Bools) -> tuple[float, float, float]:
        """Return an answer, the variance of its noise, and how wrong it is if rows were spread by tossing coins."""
        columns = tuple(sorted(self.places[column] for column in asked if column in self.places))
        lines, rows = self.divided.together(columns, classes=True)
        shares = np.ones(len(lines))
        for column, matches in asked.items():
            if column in self.whole:
                low, high = self.whole[column]
                shares *= matches[low:high].sum() / (high - low)
            else:
                runs = self.divided.columns[self.places[column]]
                part = runs.inside(matches.astype(np.float64)) / (runs.highs - runs.lows)
                shares *= part[lines[:, columns.index(self.places[column])]]
        counts, boxes = rows[:, :-1][:, classes].sum(axis=1), rows[:, -1]
        variance = math.fsum((shares**2 * boxes).tolist()) * self.variance * int(classes.sum())
        spread = math.fsum((np.sqrt(shares * (1 - shares)) * counts).tolist())
        return added_up(shares, counts), variance, max(0.0, spread)


def added_up(shares: Floats, counts: Floats) -> float:
    """Return the sum of products, the same however boxes are divided into lines: counts of equal shares come first.

    Counts are whole parts of one person, so that these sums are exact.
    """
    order = shares.argsort()
    each = shares[order]
    # What `np.unique` finds, in a third of the time where lines are few.
    starts = np.concatenate(([True], each[1:] != each[:-1])).nonzero()[0][: len(each)]
    return math.fsum((each[starts] * np.add.reduceat(counts[order], starts)).tolist())

"""Counts of boxes of codes, and what they answer to many counting queries at once.

A tally's tuples and a generalized release's lines are the same thing here: so many rows, each somewhere in a box. Rows
are spread evenly over their box, as `Generalized.count` does it for one query. Queries that ask about the same columns
are answered together, on the boxes as far as those columns tell them apart: of a hundred thousand boxes in six columns
often a few thousand are left. Cost: queries × boxes so left, in blocks that fit the cache.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Counts, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.core.labelled import Labelled
from incrowd.core.tally import Tally, group_tuples
from incrowd.kernels.answering import add_up_shares
from incrowd.metrics.workload.queries import Workload

_CELLS_AT_ONCE = 1 << 18
_SHARES_AT_ONCE = 1 << 23
_FEW_TOGETHER = 40
"""Where fewer queries than this, on average, ask about the same columns, putting boxes together does not pay."""


@dataclass(frozen=True, eq=False)
class Runs:
    """One column of the boxes: box i has codes `lows[of[i]]` to `highs[of[i]] - 1`."""

    lows: Ints
    highs: Ints
    of: Ints

    @classmethod
    def distinct(cls, lows: NDArray[np.integer], highs: NDArray[np.integer]) -> Runs:
        """Number the distinct runs of a column."""
        room = int(highs.max(initial=0)) + 1
        keys, of = np.unique(lows.astype(np.int64) * room + highs, return_inverse=True)
        return cls(keys // room, keys % room, of)

    def shares(self, matches: NDArray[np.bool_]) -> Floats:
        """Return which share of each run's codes matches, for each query (rows of `matches`)."""
        before = np.zeros((len(matches), matches.shape[1] + 1), dtype=np.int32)
        np.cumsum(matches, axis=1, dtype=np.int32, out=before[:, 1:])
        return np.asarray((before[:, self.highs] - before[:, self.lows]) / (self.highs - self.lows))


@dataclass(frozen=True, eq=False)
class Cells:
    """Boxes of codes and how many rows are somewhere in each; `scale` is how many rows of the table one stands for."""

    columns: tuple[str, ...]
    runs: tuple[Runs, ...]
    counts: Counts | Floats
    scale: float = 1.0

    @classmethod
    def of_tally(cls, tally: Tally, totals: Floats | None = None) -> Cells:
        """Take a table as it is: each box is a tuple, with its rows, or with what they weigh together."""
        runs = tuple(Runs.distinct(tally.column(name), tally.column(name) + 1) for name in tally.columns)
        return cls(tally.columns, runs, tally.counts if totals is None else totals)

    @classmethod
    def of_release(cls, release: Labelled, *, rate: float = 1.0, weighted: bool = False) -> Cells:
        """Take a release, of a sample at this rate: each box is what a published line may stand for.

        A box has its rows, or, where it is to be `weighted`, what they weigh together.
        """
        shown = release.shown
        quasi = [
            Runs.distinct(shown.lows[release.groups, place], shown.highs[release.groups, place])
            for place in range(len(shown.columns))
        ]
        sensitive = [
            Runs.distinct(release.sensitive[:, place], release.sensitive[:, place] + 1)
            for place in range(len(release.schema.sensitive))
        ]
        totals: Counts | Floats = release.counts
        if weighted and release.weighted is not None:
            totals = release.weighted.totals(len(release.counts))
        return cls((*shown.columns, *release.schema.sensitive), (*quasi, *sensitive), totals, 1.0 / rate)

    def project(self, columns: Sequence[str]) -> Cells:
        """Make one of the boxes that some columns do not tell apart; sorted by the first column first."""
        if not columns:
            return Cells((), (), np.array([self.counts.sum()]), self.scale)
        chosen = [self.runs[self.columns.index(name)] for name in columns]
        numbers = np.stack([runs.of for runs in chosen], axis=1).astype(np.int32)
        index, first = group_tuples(numbers, [len(runs.lows) for runs in chosen])
        totals = np.bincount(index, weights=self.counts, minlength=len(first))
        whole = np.issubdtype(self.counts.dtype, np.integer)
        counts: Counts | Floats = totals.astype(np.int64) if whole else totals.astype(np.float64)
        kept = tuple(Runs(runs.lows, runs.highs, runs.of[first]) for runs in chosen)
        return Cells(tuple(columns), kept, counts, self.scale)

    def answers(self, workload: Workload) -> Floats:
        """Estimate how many rows of the table satisfy each query."""
        together = list(workload.by_columns())
        if len(workload) < _FEW_TOGETHER * len(together):
            return self._one_by_one(workload)
        answers = np.zeros(len(workload))
        for columns, queries in together:
            cells = self.project(columns)
            for block in cells.blocks(queries):
                answers[block] = cells.shares(workload, block) @ cells.counts
        return answers * self.scale

    def _one_by_one(self, workload: Workload) -> Floats:
        """Answer queries each by itself, where few of them ask about the same columns."""
        names = [name for name in self.columns if name in workload.columns]
        chosen = [self.runs[self.columns.index(name)] for name in names]
        if not chosen:
            return np.full(len(workload), float(self.counts.sum())) * self.scale
        starts = np.cumsum([0, *(len(runs.lows) for runs in chosen)])[:-1]
        asked = np.stack([workload.asked[:, workload.columns.index(name)] for name in names], axis=1)
        numbers = np.stack([runs.of for runs in chosen], axis=1).astype(np.int32)
        answers = np.zeros(len(workload))
        step = max(_SHARES_AT_ONCE // max(int(sum(len(runs.lows) for runs in chosen)), 1), 1)
        for first in range(0, len(workload), step):
            block = slice(first, first + step)
            shares = np.concatenate(
                [runs.shares(workload.matches[name][block]) for name, runs in zip(names, chosen, strict=True)], axis=1
            )
            answers[block] = add_up_shares(numbers, self.counts.astype(np.float64), shares, starts, asked[block])
        return answers * self.scale

    def histograms(self, workload: Workload, column: str, size: int) -> Floats:
        """Estimate, for each query and each code of an exact column, how many rows satisfy the query and have it."""
        found = np.zeros((len(workload), size))
        for columns, queries in workload.by_columns():
            cells = self.project([column, *(name for name in columns if name != column)])
            by_value = cells.runs[0]
            starts = np.flatnonzero(np.diff(by_value.of, prepend=-1))
            codes = by_value.lows[by_value.of[starts]]
            for block in cells.blocks(queries):
                if len(starts):
                    weighed = cells.shares(workload, block) * cells.counts
                    found[np.ix_(block, codes)] = np.add.reduceat(weighed, starts, axis=1)
        return found * self.scale

    def blocks(self, queries: Ints) -> list[Ints]:
        """Cut queries into blocks that are answered at once."""
        at_once = max(_CELLS_AT_ONCE // max(len(self.counts), 1), 1)
        return [queries[first : first + at_once] for first in range(0, len(queries), at_once)]

    def shares(self, workload: Workload, queries: Ints) -> Floats:
        """Return the share of each box that satisfies each of some queries, queries as rows."""
        share = np.ones((len(queries), len(self.counts)))
        for name, runs in zip(self.columns, self.runs, strict=True):
            if name in workload.matches:
                share *= np.take(runs.shares(workload.matches[name][queries]), runs.of, axis=1)
        return share

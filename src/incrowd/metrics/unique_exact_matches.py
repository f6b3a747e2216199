"""Unique exact matches, of NIST's Collaborative Research Cycle: one-of-a-kind rows that are published as they are.

Of the rows of the table that no other row is like, in quasi-identifiers and sensitive columns together: the share that
a published row shows in full. It tells what a release gives away, not what it lost. Cost: one sort of both tables.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from incrowd.common.records import dataclass
from incrowd.core.labelled import Labelled
from incrowd.core.metric import Goal, Metric
from incrowd.core.tally import Tally, group_tuples
from incrowd.forms.reach import reach


@dataclass(frozen=True)
class UniqueExactMatches(Metric):
    """The share of the table's one-of-a-kind rows that the release shows as they are; 0 if there is none.

    Reference: NIST, Collaborative Research Cycle (2023).
    """

    name: ClassVar[str] = "unique-exact-matches"
    plain_name: ClassVar[str] = "one-of-a-kind rows that are published unchanged"
    goal: ClassVar[Goal] = "minimize"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    of_privacy: ClassVar[bool] = True

    def measure(self, before: Tally, release: Labelled) -> float:
        """Look for each of these rows among those that are shown without a range or a set."""
        names = sorted(release.schema.tallied)
        if not names or not len(before):
            return 0.0
        exact = np.ones(len(release.counts), dtype=bool)
        shown = []
        for name in names:
            if name in release.shown.columns:
                lows, highs = (ends[release.groups] for ends in reach(before, release, name))
                exact &= highs - lows == 1
                shown.append(lows)
            else:
                shown.append(release.sensitive[:, list(release.schema.sensitive).index(name)])
        codes = np.concatenate(
            [
                before.codes_of(names),
                np.stack(shown, axis=1)[exact].reshape(-1, len(names)).astype(np.int32),
            ]
        )
        number, first = group_tuples(codes, [before.trees[name].size for name in names])
        rows = np.bincount(number[: len(before)], before.counts, len(first))
        published = np.zeros(len(first), dtype=bool)
        published[number[len(before) :]] = True
        alone = rows == 1
        return float((alone & published).sum() / alone.sum()) if alone.any() else 0.0

"""Runs of neighbouring weights, group by group, each of which enough people have.

Cost: one pass over the distinct pairs of a group and a weight. The loop is in `native/weight_runs.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Counts, Ints


def runs_of_enough(groups: Ints, people: Counts, enough: int) -> Ints:
    """Number runs of pairs that are sorted by group and by weight; `people[i]` have pair i.

    A run ends as soon as `enough` people have one of its weights; what is left at the end of a group joins its last
    run. So a run has fewer only where its whole group has.
    """
    runs = np.empty(len(groups), dtype=np.int64)
    call("runs_of_enough", groups, people, enough, runs)
    return runs

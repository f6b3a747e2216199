"""Runs of neighbouring weights, group by group, each of which enough people have.

Cost: one pass over the distinct pairs of a group and a weight.
"""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled


@compiled
def runs_of_enough(groups, people, enough):
    """Number runs of pairs that are sorted by group and by weight; `people[i]` have pair i.

    A run ends as soon as `enough` people have one of its weights; what is left at the end of a group joins its last
    run. So a run has fewer only where its whole group has.
    """
    runs = np.empty(len(groups), dtype=np.int64)
    run, first, inside = -1, 0, 0
    for place in range(len(groups)):
        starts_group = place == 0 or groups[place] != groups[place - 1]
        if starts_group:
            first = run + 1
        if starts_group or inside >= enough:
            run += 1
            inside = 0
        runs[place] = run
        inside += people[place]
        ends_group = place == len(groups) - 1 or groups[place + 1] != groups[place]
        if ends_group and inside < enough and run > first:
            back = place
            while back >= 0 and runs[back] == run:
                runs[back] = run - 1
                back -= 1
            run -= 1
    return runs

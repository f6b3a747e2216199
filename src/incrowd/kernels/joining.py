"""Find which groups to join: the loops of local recoding that compare groups with each other.

A group spans codes `lows[group]` to `highs[group]`, both included, and shows, per column, the node of level
`levels[group]` that holds them. `keys[first_key[column, level] + code]` is the code's node at a level, and `loss_at`
has what showing that node loses, in the same places.
"""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled


@compiled
def _joint_loss(lows, highs, levels, a, b, keys, loss_at, first_key, highest, most):
    """Return what a row of two joined groups loses; infinity if that is above `most` or a level above its highest."""
    total = 0.0
    for column in range(lows.shape[1]):
        low = min(lows[a, column], lows[b, column])
        high = max(highs[a, column], highs[b, column])
        level = max(levels[a, column], levels[b, column])
        while keys[first_key[column, level] + low] != keys[first_key[column, level] + high]:
            level += 1
        if level > highest[column]:
            return np.inf
        total += loss_at[first_key[column, level] + high]
        if total > most:
            return np.inf
    return total


@compiled
def nearest(
    searching, is_failing, only_failing, own_row, kind_of, safe, cell_of, members, starts,
    sizes, losses, lows, highs, levels, keys, loss_at, first_key, highest, found, costs,
):  # fmt: skip
    """Find, for each searching group, the groups that it costs least to join, cheapest first.

    The cost is what joining adds to the loss of both, per row that was failing. Only groups of the same cell are looked
    at (`members[starts[cell]:starts[cell + 1]]`), and only those of a kind that makes the group safe, by its row of
    `safe`. `found` has as many columns as groups are wanted; where there are fewer, it is -1.
    """
    wanted = found.shape[1]
    for place in range(len(searching)):
        one = searching[place]
        cell = cell_of[one]
        known = 0
        for index in range(starts[cell], starts[cell + 1]):
            other = members[index]
            if other == one or not safe[own_row[place], kind_of[other]] or (only_failing and not is_failing[other]):
                continue
            rows = sizes[one] + sizes[other]
            helped = rows if is_failing[other] else sizes[one]
            before = sizes[one] * losses[one] + sizes[other] * losses[other]
            most = np.inf if known < wanted else (costs[place, wanted - 1] * helped + before) / rows
            joint = _joint_loss(lows, highs, levels, one, other, keys, loss_at, first_key, highest, most)
            if joint == np.inf:
                continue
            cost = (rows * joint - before) / helped
            if known < wanted:
                known += 1
            elif cost >= costs[place, wanted - 1]:
                continue
            at = known - 1
            while at > 0 and costs[place, at - 1] > cost:
                costs[place, at] = costs[place, at - 1]
                found[place, at] = found[place, at - 1]
                at -= 1
            costs[place, at] = cost
            found[place, at] = other
        found[place, known:] = -1
        costs[place, known:] = np.inf


@compiled
def match(ones, others, taken):
    """Take pairs in their order as long as neither group is in a pair already; return which were taken."""
    accepted = np.zeros(len(ones), dtype=np.bool_)
    for place in range(len(ones)):
        if not taken[ones[place]] and not taken[others[place]]:
            taken[ones[place]] = True
            taken[others[place]] = True
            accepted[place] = True
    return accepted


@compiled
def costs_of_joining(one, sizes, losses, lows, highs, levels, keys, loss_at, first_key, highest):
    """Return what joining one group adds to the loss of both, for every other group; infinity where it cannot."""
    costs = np.full(len(sizes), np.inf)
    for other in range(len(sizes)):
        if other != one:
            joint = _joint_loss(lows, highs, levels, one, other, keys, loss_at, first_key, highest, np.inf)
            before = sizes[one] * losses[one] + sizes[other] * losses[other]
            costs[other] = (sizes[one] + sizes[other]) * joint - before
    return costs

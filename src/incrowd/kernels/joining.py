"""Find which groups to join: the loops of local recoding that compare groups with each other.

A group spans codes `lows[group]` to `highs[group]`, both included, and shows, per column, the node of level
`levels[group]` that holds them. `keys[first_key[column, level] + code]` is the code's node at a level, and `loss_at`
has what showing that node loses, in the same places. The loops are in `native/joining.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.common.threads import threads
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Bools, Codes, Floats, Ints


def nearest(
    searching: Ints, is_failing: Bools, only_failing: bool, own_row: Ints, kind_of: Ints, safe: Bools, sizes: Ints,
    losses: Floats, lows: Codes, highs: Codes, levels: Ints, keys: Ints, loss_at: Floats, first_key: Ints,
    highest: Ints, found: Ints, costs: Floats,
) -> None:  # fmt: skip
    """Find, for each searching group, the groups that it costs least to join, cheapest first.

    The cost is what joining adds to the loss of both, per row that was failing. Only groups of a kind that makes the
    group safe are looked at, by its row of `safe`. `found` has as many columns as groups are wanted; where there are
    fewer, it is -1. Groups are kept in a tree of boxes, and boxes where all must cost more are left out.
    """
    call(
        "nearest", searching, is_failing, only_failing, own_row, kind_of, safe, sizes, losses, lows, highs,
        levels, keys, loss_at, first_key, highest, found, costs, threads(),
    )  # fmt: skip


def match(ones: Ints, others: Ints, taken: Bools) -> Bools:
    """Take pairs in their order as long as neither group is in a pair already; return which were taken."""
    accepted = np.zeros(len(ones), dtype=np.bool_)
    call("match_pairs", ones, others, taken, accepted)
    return accepted


def match_unions(
    ones: Ints, others: Ints, limits: Floats, taken: Bools, sizes: Ints, losses: Floats, lows: Codes, highs: Codes,
    levels: Ints, keys: Ints, loss_at: Floats, first_key: Ints, highest: Ints,
) -> tuple[Ints, Bools]:  # fmt: skip
    """Take pairs in their order; a group whose choice was taken joins the union if that costs at most its limit.

    Return the group that each one joins, or -1, and which were the first to join theirs.
    """
    joins, is_first = np.full(len(sizes), -1), np.zeros(len(sizes), dtype=np.bool_)
    call(
        "match_unions", ones, others, limits, taken, sizes, losses, lows, highs, levels, keys, loss_at, first_key,
        highest, joins, is_first,
    )  # fmt: skip
    return joins, is_first


def costs_of_joining(
    one: int, sizes: Ints, losses: Floats, lows: Codes, highs: Codes, levels: Ints, keys: Ints, loss_at: Floats,
    first_key: Ints, highest: Ints,
) -> Floats:  # fmt: skip
    """Return what joining one group adds to the loss of both, for every other group; infinity where it cannot."""
    costs = np.full(len(sizes), np.inf)
    call("costs_of_joining", one, sizes, losses, lows, highs, levels, keys, loss_at, first_key, highest, costs)
    return costs

"""Partners for swaps: everybody takes one of those ahead, not too far, who have none yet; each of them is as likely.

A tree of counts tells how many ahead are free, and finds the one that chance picks: n log n steps for n people.
"""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled


@compiled
def swap_near(even, reach):
    """Return whose value each place gets, itself where nobody was left; `even` is one number below 1 for each."""
    number = len(even)
    partner = np.arange(number)
    free = np.ones(number, dtype=np.bool_)
    tree = np.zeros(number + 1, dtype=np.int64)
    for place in range(1, number + 1):
        tree[place] = place & -place  # everybody is free
    top = 1
    while top * 2 <= number:
        top *= 2
    for place in range(number):
        if not free[place]:
            continue
        free[place] = False
        _take(tree, place)
        before, until = _free_below(tree, place + 1), _free_below(tree, min(place + reach, number - 1) + 1)
        there = until - before
        if there == 0:
            continue
        wanted = before + min(int(even[place] * there), there - 1)
        other = _find(tree, wanted, top)
        free[other] = False
        _take(tree, other)
        partner[place] = other
        partner[other] = place
    return partner


@compiled
def _take(tree, place):
    at = place + 1
    while at < len(tree):
        tree[at] -= 1
        at += at & -at


@compiled
def _free_below(tree, place):
    """Return how many of the places before this one are free."""
    found, at = 0, place
    while at > 0:
        found += tree[at]
        at -= at & -at
    return found


@compiled
def _find(tree, wanted, top):
    """Return the free place that so many free ones are before."""
    at, step, left = 0, top, wanted
    while step > 0:
        if at + step < len(tree) and tree[at + step] <= left:
            at += step
            left -= tree[at]
        step //= 2
    return at

"""Shuffle runs of a list, each by itself (Fisher & Yates), with words of chance drawn beforehand."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def shuffle_runs(items, starts, words):
    """Shuffle the runs `starts[i]:starts[i + 1]` of `items` in place; return whether the words were enough.

    A word gives an even draw below n if it is below the largest multiple of n that fits 64 bits. One that is not is
    thrown away, which `len(words) - len(items)` words are there to make good.
    """
    spare = len(items)
    for run in range(len(starts) - 1):
        first = starts[run]
        for last in range(starts[run + 1] - 1, first, -1):
            choices = np.uint64(last - first + 1)
            word = words[last]
            # 2**64 - 2**64 % choices, computed without leaving 64 bits; 0 stands for 2**64 itself
            end = np.uint64(0) - (np.uint64(0) - choices) % choices
            while end != np.uint64(0) and word >= end:
                if spare == len(words):
                    return False
                word = words[spare]
                spare += 1
            chosen = first + np.int64(word % choices)
            items[last], items[chosen] = items[chosen], items[last]
    return True

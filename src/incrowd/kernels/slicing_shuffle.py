"""Shuffle runs of a list, each by itself (Fisher & Yates), with words of chance drawn beforehand."""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled


@compiled
def shuffle_runs(items, starts, words):
    """Shuffle the runs `starts[i]:starts[i + 1]` of `items` in place; return whether the words were enough.

    Words have any number of bits. One gives an even draw below n if it is below the largest multiple of n that fits
    them. One that is not is thrown away, which `len(words) - len(items)` words are there to make good.
    """
    spare = len(items)
    largest = np.uint64(np.iinfo(words.dtype).max)
    for run in range(len(starts) - 1):
        first = starts[run]
        for last in range(starts[run + 1] - 1, first, -1):
            choices = np.uint64(last - first + 1)
            word = np.uint64(words[last])
            last_even = largest - (largest % choices + np.uint64(1)) % choices
            while word > last_even:
                if spare == len(words):
                    return False
                word = np.uint64(words[spare])
                spare += 1
            chosen = first + np.int64(word % choices)
            items[last], items[chosen] = items[chosen], items[last]
    return True

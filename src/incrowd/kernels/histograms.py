"""Count the values of each group, without the zeros."""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled


@compiled
def count_values(group_of, codes, counts, groups):
    """Return where each group's entries start, and their codes in ascending order with the sums of their counts."""
    ends = np.zeros(groups + 1, dtype=np.int64)
    for item in range(len(codes)):
        ends[group_of[item] + 1] += 1
    starts = np.cumsum(ends)
    nxt = starts[:-1].copy()
    values = np.empty(len(codes), dtype=np.int32)
    totals = np.empty(len(codes), dtype=np.int64)
    for item in range(len(codes)):
        place = nxt[group_of[item]]
        values[place], totals[place] = codes[item], counts[item]
        nxt[group_of[item]] += 1
    offsets = np.zeros(groups + 1, dtype=np.int64)
    used = 0
    for group in range(groups):
        first, last = starts[group], starts[group + 1]
        _sort_both(values, totals, first, last)
        begin = used
        for place in range(first, last):
            if used > begin and values[used - 1] == values[place]:
                totals[used - 1] += totals[place]
            else:
                values[used], totals[used] = values[place], totals[place]
                used += 1
        offsets[group + 1] = used
    return offsets, values[:used].copy(), totals[:used].copy()


@compiled
def _sort_both(values, totals, first, last):
    """Sort a run by its values: a few by insertion, which is what most groups have."""
    if last - first > 32:
        order = np.argsort(values[first:last], kind="mergesort")
        values[first:last] = values[first:last][order]
        totals[first:last] = totals[first:last][order]
        return
    for place in range(first + 1, last):
        value, total = values[place], totals[place]
        hole = place
        while hole > first and values[hole - 1] > value:
            values[hole], totals[hole] = values[hole - 1], totals[hole - 1]
            hole -= 1
        values[hole], totals[hole] = value, total

"""Deal rows out to groups in which no sensitive value occurs twice (Xiao & Tao 2006), by counts of values.

Rows are places in a list that is sorted by segment and value: value v of a segment is a run `run_starts[v]:run_starts[v
+ 1]`, in random order already. Segments are dealt out each by itself; `run_order` lists the runs of each from the
longest to the shortest.
"""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled


@compiled
def _first_below(remaining, many, count):
    """Return the first of some descending numbers that is below this one."""
    low, high = 0, many
    while low < high:
        middle = (low + high) >> 1
        if remaining[middle] >= count:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _take(places_from, places_to, remaining, nxt, group_of, group):
    for place in range(places_from, places_to):
        group_of[nxt[place]] = group
        nxt[place] += 1
        remaining[place] -= 1


@compiled
def _deal(run_starts, run_order, first_run, last_run, each, words, group_of, first_group, marks, remaining, nxt):
    """Deal one segment out to groups of `each` values, numbered from `first_group` on; return how many there are."""
    kinds = last_run - first_run
    for place in range(kinds):
        run = run_order[first_run + place]
        remaining[place] = run_starts[run + 1] - run_starts[run]
        nxt[place] = run_starts[run]
    groups, alive = 0, kinds
    while alive >= each:
        # Values with more rows left than the last one taken are all taken; of those with as many, the last ones, so
        # that what remains is still in descending order.
        count = remaining[each - 1]
        above, end = _first_below(remaining, alive, count + 1), _first_below(remaining, alive, count)
        _take(0, above, remaining, nxt, group_of, first_group + groups)
        _take(end - (each - above), end, remaining, nxt, group_of, first_group + groups)
        groups += 1
        while alive > 0 and remaining[alive - 1] == 0:
            alive -= 1
    for place in range(alive):
        # One row of the value is left (Xiao & Tao's Property 1), and at least one group lacks it.
        run = run_order[first_run + place]
        with_value = nxt[place] - run_starts[run]
        for row in range(run_starts[run], nxt[place]):
            marks[group_of[row]] = run
        chosen = np.int64(words[place] % np.uint64(groups - with_value))
        group = first_group
        while marks[group] == run or chosen > 0:
            chosen -= marks[group] != run
            group += 1
        group_of[nxt[place]] = group
    return groups


@compiled
def deal_segments(run_starts, run_order, segment_starts, box_starts, each, together, words):
    """Deal every segment out; segment i has the runs `segment_starts[i]:segment_starts[i + 1]`.

    A group takes one row of each of the `each` values of which most rows are left, again and again. The rows that are
    left in the end, fewer than `each`, go to groups that lack their value, by the chance of `words[i]`. No value may be
    more than one in `each` rows of a segment. Then, in each box of segments, every `together` groups are joined. Return
    each row's group, and how many groups there are.
    """
    rows, runs = run_starts[-1], len(run_starts) - 1
    group_of = np.empty(rows, dtype=np.int64)
    marks = np.full(rows + 1, -1, dtype=np.int64)
    remaining, nxt = np.empty(runs, dtype=np.int64), np.empty(runs, dtype=np.int64)
    total = 0
    for box in range(len(box_starts) - 1):
        found = 0
        for segment in range(box_starts[box], box_starts[box + 1]):
            found += _deal(
                run_starts, run_order, segment_starts[segment], segment_starts[segment + 1], each, words[segment],
                group_of, total + found, marks, remaining, nxt,
            )  # fmt: skip
        if together > 1:
            last = max(found // together, 1) - 1
            first_run, last_run = segment_starts[box_starts[box]], segment_starts[box_starts[box + 1]]
            for row in range(run_starts[first_run], run_starts[last_run]):
                group_of[row] = total + min((group_of[row] - total) // together, last)
            found = last + 1
        total += found
    return group_of, total

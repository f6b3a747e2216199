"""Answer counting queries one after the other, over all boxes: for few queries that ask about many sets of columns."""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled


@compiled
def add_up_shares(runs, counts, shares, starts, asked):
    """Return, for each query, the sum over boxes of their rows times the share of the box that satisfies it.

    `runs[i, j]` is the run of box i in column j; `shares[q, starts[j] + r]` is the share of the column's run r that
    satisfies query q, and `asked[q, j]` whether the query asks about the column at all.
    """
    answers = np.zeros(len(asked))
    by_column = np.ascontiguousarray(runs.T)  # one column after the other: that is how they are read
    left = np.empty(len(runs), dtype=np.int64)
    left_shares = np.empty(len(runs))
    for query in range(len(asked)):
        row = shares[query]
        places = np.flatnonzero(asked[query])
        # What rules out most boxes is looked at first, and most often nothing else.
        allowed = np.empty(len(places))
        for number, place in enumerate(places):
            end = starts[place + 1] if place + 1 < len(starts) else len(row)
            allowed[number] = row[starts[place] : end].mean()
        places = places[np.argsort(allowed)]
        if not len(places):
            answers[query] = counts.sum()
            continue
        # Boxes of which nothing is ruled out yet, with their share so far: column by column they become fewer.
        number, first = 0, places[0]
        for box in range(len(runs)):
            share = row[starts[first] + by_column[first, box]]
            left[number], left_shares[number] = box, share
            number += share > 0.0
        for place in places[1:]:
            still = 0
            for at in range(number):
                box = left[at]
                share = left_shares[at] * row[starts[place] + by_column[place, box]]
                left[still], left_shares[still] = box, share
                still += share > 0.0
            number = still
        total = 0.0
        for at in range(number):
            total += left_shares[at] * counts[left[at]]
        answers[query] = total
    return answers

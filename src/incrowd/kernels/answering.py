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
    for query in range(len(asked)):
        row = shares[query]
        places = np.flatnonzero(asked[query])
        # What rules out most boxes is looked at first, and most often nothing else.
        allowed = np.empty(len(places))
        for number, place in enumerate(places):
            end = starts[place + 1] if place + 1 < len(starts) else len(row)
            allowed[number] = row[starts[place] : end].mean()
        places = places[np.argsort(allowed)]
        total = 0.0
        for box in range(len(runs)):
            share = 1.0
            for place in places:
                share *= row[starts[place] + runs[box, place]]
                if share == 0.0:
                    break
            total += share * counts[box]
        answers[query] = total
    return answers

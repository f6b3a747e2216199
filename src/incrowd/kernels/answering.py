"""Answer counting queries one after the other, over all boxes: for few queries that ask about many sets of columns.

The loop is in `native/answering.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.common.threads import threads
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Bools, Codes, Floats, Ints


def add_up_shares(runs: Codes, counts: Floats, shares: Floats, starts: Ints, asked: Bools) -> Floats:
    """Return, for each query, the sum over boxes of their rows times the share of the box that satisfies it.

    `runs[i, j]` is the run of box i in column j; `shares[q, starts[j] + r]` is the share of the column's run r that
    satisfies query q, and `asked[q, j]` whether the query asks about the column at all. Shares are best given in
    Fortran order, as `Runs.shares` makes them: they are not copied then.
    """
    answers = np.zeros(len(asked))
    by_run = np.ascontiguousarray(shares.T)
    call("add_up_shares", runs, counts, by_run, starts, np.ascontiguousarray(asked), answers, threads())
    return answers

"""Count equal values of the same owner, where an owner's rows lie in one run, and runs are in the order of owners.

So runs are sorted each by itself, and threads share them. The loop is in `native/run_counts.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.common.threads import threads
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Codes, Counts, Ints


def count_in_runs(
    starts: Ints, tuples: Ints, owners: Ints, values: Codes, counts: Counts | None
) -> tuple[Ints, Codes, Counts, Ints]:
    """Return the distinct pairs of an owner and a value, ascending: owners, values, how many rows; and each row's pair.

    Run i has the rows `starts[i]:starts[i + 1]`, and its owners are below those of the next. Row r has the owner
    `owners[r]`, below 2^31, and the value `values[tuples[r]]`, at least 0; it stands for `counts[r]` rows, or itself.
    """
    which = np.empty(len(tuples), dtype=np.int64)
    pairs = call(
        "count_in_runs",
        *(np.ascontiguousarray(array) for array in (starts, tuples, owners, values)),
        np.zeros(0, dtype=np.int64) if counts is None else np.ascontiguousarray(counts),
        which,
        threads(),
    )
    return *pairs, which

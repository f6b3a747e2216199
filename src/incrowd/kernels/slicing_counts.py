"""Estimate how many rows of buckets satisfy a question, columns being taken as independent within a bucket.

Parts of rows are counted in steps of 2^-24, and buckets are added up without error: nothing depends on an order.
The loop is in `native/slicing_counts.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Codes, Counts, Floats, Ints


def count_in_buckets(
    codes: Codes, counts: Counts, bucket_of: Ints, sizes: Counts, asked: Sequence[Sequence[tuple[int, Floats]]]
) -> float:
    """Return the sum over buckets of their rows times, for each column, the share of them that satisfies it.

    Part p is `counts[p]` rows in bucket `bucket_of[p]`, with the code `codes[a, p]` of attribute a. `asked` are, for
    each column that a question is about, its attributes and how much of each code satisfies the question.
    """
    flat = [one for column in asked for one in column]
    found = call(
        "count_in_buckets", codes, counts, bucket_of, sizes,
        np.array([attribute for attribute, _ in flat], dtype=np.int64),
        np.array([0, *accumulate(len(column) for column in asked)], dtype=np.int64),
        np.concatenate([np.zeros(0), *(shares for _, shares in flat)]),
        np.array([0, *accumulate(len(shares) for _, shares in flat)], dtype=np.int64),
    )  # fmt: skip
    return float(found)

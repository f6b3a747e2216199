"""Cut a table into ever smaller buckets while every bucket stays diverse by itself.

A bucket is a slice of `order`, which lists tuples. It is diverse if, among its rows with the same known part in a
secret's column, no value of the secret is more frequent than 1/ℓ. Whole numbers throughout. The loops are in
`native/slicing_cuts.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.common.threads import threads
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Codes, Counts, Floats, Ints


def cut_buckets(
    codes: Codes, counts: Counts, positions: Floats, offsets: Ints, spans: Floats, sizes: Ints, knowns: Ints,
    pairs: Ints, weights: Counts, known_number: int, pair_number: int, least: int, numerator: int, denominator: int,
) -> tuple[Ints, Ints]:  # fmt: skip
    """Cut until no cut leaves two diverse buckets of at least `least` rows.

    `weights[a, i]` are the rows of tuple i whose value of secret a counts: all of them, or none if it is missing.
    Return the tuples bucket by bucket, and where the buckets start.
    """
    order = np.empty(len(codes), dtype=np.int64)
    starts = np.empty(max(len(codes), 1) + 1, dtype=np.int64)  # no tuples at all are one bucket
    buckets = call(
        "cut_buckets", np.ascontiguousarray(codes), counts, positions, offsets, spans, sizes, knowns, pairs, weights,
        known_number, pair_number, least, numerator, denominator, order, starts, threads(),
    )  # fmt: skip
    return order, starts[: buckets + 1].copy()

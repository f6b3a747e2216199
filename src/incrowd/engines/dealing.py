"""Rows that only kept columns tell apart: which of them goes to which group, the same on every engine.

A tuple's rows are numbered in the order of what they carry, and dealt to the tuple's parts in that order, or, where
chance picks among them, in the order of a hash of the number under a secret of the tuple. Rows that are equal in every
column are interchangeable, so the outcome is a function of the table alone, and may be computed again. The hash is
Spark's `xxhash64` of two whole numbers, since Spark must come to the same order. Cost: a sort of the rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Ints
from incrowd.core.recoding import WITHHELD, Recoding

_SEED = np.uint64(42)
_1, _2, _3, _4, _5 = (
    np.uint64(prime)
    for prime in (
        0x9E3779B185EBCA87,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0x85EBCA77C2B2AE63,
        0x27D4EB2F165667C5,
    )
)


def hash_of(*columns: Ints) -> Ints:
    """Return Spark's `xxhash64` of columns of 64-bit whole numbers.

    >>> hash_of(np.full(2, 123456789012345678), np.array([1, 2]), np.array([5, 6])).tolist()
    [3540630619362162268, 4504416683722781778]
    """
    hashed = np.full(len(columns[0]), _SEED)
    for column in columns:
        mixed = hashed + _5 + np.uint64(8)
        mixed ^= _rotated(column.astype(np.int64).view(np.uint64) * _2, 31) * _1
        mixed = _rotated(mixed, 27) * _1 + _4
        mixed ^= mixed >> np.uint64(33)
        mixed *= _2
        mixed ^= mixed >> np.uint64(29)
        mixed *= _3
        hashed = mixed ^ (mixed >> np.uint64(32))
    return hashed.view(np.int64)


def _rotated(words: NDArray[np.uint64], by: int) -> NDArray[np.uint64]:
    return (words << np.uint64(by)) | (words >> np.uint64(64 - by))


def secrets_of(tuples: Ints, shuffle: int) -> Ints:
    """Return a secret of each tuple, made of one for the whole release."""
    secret = np.array([shuffle], dtype=np.uint64).view(np.int64)
    return hash_of(np.broadcast_to(secret, len(tuples)), tuples)


def dealt(tuple_of: Ints, shuffle: int | None) -> Ints:
    """Return rows, which come sorted by tuple and by what they carry, in the order in which they are dealt."""
    rows = np.arange(len(tuple_of))
    if shuffle is None:
        return rows
    rank = rows - np.searchsorted(tuple_of, tuple_of, side="left")
    return np.lexsort((rank, hash_of(secrets_of(tuple_of, shuffle), rank), tuple_of))


def groups_of_rows(tuple_of: Ints, recoding: Recoding, group_of_part: Ints) -> Ints:
    """Return the group of each row, or `WITHHELD`; rows come sorted by tuple, each tuple's as they are dealt."""
    parts = np.argsort(recoding.tuples, kind="stable")
    tuples = recoding.tuples[parts]
    rank = np.arange(len(tuple_of)) - np.searchsorted(tuple_of, tuple_of, side="left")
    ends = np.cumsum(recoding.counts[parts])
    first_part = np.searchsorted(tuples, tuple_of, side="left")
    before = np.where(first_part > 0, ends[first_part - 1], 0)
    return np.asarray(group_of_part[parts[np.searchsorted(ends, before + rank, side="right")]])


def group_of_tuple(recoding: Recoding, group_of_part: Ints, tuples: int) -> Ints | None:
    """Return the one group of each tuple, or `WITHHELD`; None where a tuple's rows are in several."""
    if len(recoding.tuples) > tuples or len(np.unique(recoding.tuples)) < len(recoding.tuples):
        return None
    found = np.full(tuples, WITHHELD, dtype=np.int64)
    found[recoding.tuples] = group_of_part
    return found

"""Group the rows of a table by generalized codes: the step that searches over level vectors repeat most.

A row's key at some levels is the sum over its columns of `keys[first_key[column] + code]`, where `first_key` picks the
part of `keys` that belongs to the column's level; rows with equal keys are one group. `slots` and `slot_keys` are the
scratch of a hash table: as long as a power of two that is at least twice the number of rows, `slots` all -1 before and
after. The loops are in `native/lattice.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.common.threads import threads
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Codes, Floats, Ints


def count_groups(
    codes: Codes, counts: Ints, keys: Ints, scores: Floats, first_key: Ints, group_of: Ints, slots: Ints,
    slot_keys: Ints, used: Ints,
) -> tuple[Ints, Ints, Floats]:  # fmt: skip
    """Number the groups of all rows in the order of their first one; return them, their sizes and sums of scores.

    `scores` is laid out as `keys`; all rows of a group have the same.
    """
    sizes, totals = np.empty(len(codes), dtype=np.int64), np.empty(len(codes))
    groups = call(
        "count_groups", codes, counts, keys, scores, first_key, group_of, sizes, totals, slots, slot_keys, used
    )
    return group_of, sizes[:groups], totals[:groups]


def merge_rows(
    codes: Codes, sensitive: Codes, counts: Ints, keys: Ints, first_key: Ints, slots: Ints, slot_keys: Ints, used: Ints
) -> tuple[Codes, Codes, Ints]:
    """Add up rows with equal keys; return codes, sensitive codes and counts of one row each, in their first order.

    Sensitive columns have one level each; `first_key` has them behind the others.
    """
    members, totals = np.empty((2, len(codes)), dtype=np.int64)
    groups = call("merge_rows", codes, sensitive, counts, keys, first_key, members, totals, slots, slot_keys, used)
    kept = members[:groups]
    return codes.take(kept, axis=0), sensitive.take(kept, axis=0), totals[:groups].copy()


def next_promising(
    codes: Codes, counts: Ints, members: Ints, keys: Ints, first_keys: Ints, start: int, min_group: int,
    group_of: Ints, sizes: Ints, slots: Ints, slot_keys: Ints, used: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Find the first vector from `start` on at which some group of the listed rows has at least `min_group` rows.

    `first_keys[vector]` picks the parts of `keys` for each vector. Return the vector (or their number, if there is
    none) and how many groups there are; `group_of` and `sizes` describe them.
    """
    vector, groups = call(
        "next_promising", codes, counts, members, keys, first_keys, start, min_group, group_of, sizes, slots,
        slot_keys, used, threads(),
    )  # fmt: skip
    return vector, groups


def sweep_sizes(
    codes: Codes, counts: Ints, left: Ints, keys: Ints, first_keys: Ints, min_group: int, group_of: Ints, groups: int,
    here: Ints, sizes: Ints, slots: Ints, slot_keys: Ints, used: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Go through vectors; rows that share a large enough group at one get it, the rest of `left` go on to the next.

    `left` is kept at the front of its array, and `group_of` of these is -1; return how many are left and how many
    groups there are.
    """
    many, groups = call(
        "sweep_sizes", codes, counts, left, keys, first_keys, min_group, group_of, groups, here, sizes, slots,
        slot_keys, used, threads(),
    )  # fmt: skip
    return many, groups

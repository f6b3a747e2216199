"""Anatomy: bucketization into groups of ℓ different sensitive values (Xiao & Tao, "Anatomy: Simple and Effective
Privacy Preservation", VLDB 2006).

Every group takes one row of each of the ℓ sensitive values of which most rows are left; the fewer than ℓ rows that
remain in the end go each to a group that lacks their value. No other groups with ℓ-diversity make a smaller
reconstruction error (their Theorem 4, up to a factor of 1 + 1/rows).

Cost: linear in the rows.
"""

from __future__ import annotations

import numpy as np

from incrowd.common.arrays import Codes, Counts, Ints
from incrowd.common.parameters import require_whole
from incrowd.common.randomness import words
from incrowd.errors import Unsatisfiable
from incrowd.forms.slices.chance import shuffle_within
from incrowd.forms.slices.slices import Buckets
from incrowd.hierarchies.tree import MISSING
from incrowd.kernels import anatomy
from incrowd.kernels.repeating import repeat_places
from incrowd.kernels.slicing_index import sort_by_key


def deal_anatomy(
    rng: np.random.Generator, codes: Codes, counts: Counts, l: int, *, ignores_missing: bool = False
) -> Buckets:
    """Deal the rows of a table out to groups of `l` rows or a few more, in each of which no value occurs twice.

    `codes[i]` is the sensitive value of tuple i, and `counts[i]` the number of its rows. Which of the rows with
    a value go where is left to chance. Raise `Unsatisfiable` if a value is more frequent than 1/l. Missing values may
    be ignored: then the rows that have one are dealt out evenly in the end, to any groups.
    """
    require_whole("anatomy", "l", l, at_least=1)
    everybody = codes
    recorded = np.flatnonzero(codes != MISSING) if ignores_missing and l > 1 else np.arange(len(codes))
    codes = codes[recorded]
    totals = np.bincount(codes, weights=counts[recorded], minlength=1).astype(np.int64)
    rows = int(totals.sum())
    if len(everybody) and not rows:
        raise Unsatisfiable(f"anatomy: {l}-diversity is impossible, since no row has a sensitive value.")
    if rows and l * int(totals.max()) > rows:
        possible = rows // int(totals.max())
        raise Unsatisfiable(
            f"anatomy: {l}-diversity is impossible, since one sensitive value is more than 1/{l} of the {rows} rows"
            f"{'' if len(recorded) == len(everybody) else ' that have one'}; "
            f"the largest l that is possible is {possible}.  Hint: ask for l = {possible}, or group sensitive values."
        )
    tuples = recorded[sort_by_key(np.arange(len(codes), dtype=np.int64), codes, len(totals))]
    runs = np.concatenate(([0], np.cumsum(totals[totals > 0])))
    dealt = shuffle_within(rng, np.repeat(tuples, counts[tuples]), runs)
    segment, box = np.array([0, len(runs) - 1]), np.array([0, 1 if rows else 0])
    chance = words(rng, l).reshape(1, l)
    group_of, groups = anatomy.deal_segments(runs, longest_first(runs, segment), segment, box, l, 1, chance)
    if len(recorded) < len(everybody):
        without = np.flatnonzero(everybody == MISSING)
        without = np.repeat(without, counts[without])
        without = shuffle_within(rng, without, np.array([0, len(without)]))
        dealt = np.concatenate([dealt, without])
        group_of = np.concatenate([group_of, np.arange(len(without)) % groups])
    return Buckets(dealt, np.ones(len(dealt), dtype=np.int64), group_of)


def longest_first(run_starts: Ints, segment_starts: Ints) -> Ints:
    """List the runs of every segment from the longest to the shortest, ties in their order."""
    lengths = np.diff(run_starts)
    segment_of = repeat_places(np.diff(segment_starts))
    longest = int(lengths.max(initial=0))
    by_length = sort_by_key(np.arange(len(lengths), dtype=np.int64), longest - lengths, longest + 1)
    return sort_by_key(by_length, segment_of, len(segment_starts))

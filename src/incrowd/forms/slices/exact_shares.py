"""p(t,s) as fractions, for the few people whose verdict floats leave open: two sums that are equal up to rounding.

Cost: Python's own arithmetic on every match of these people.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from incrowd.common.arrays import Codes, Ints
from incrowd.forms.slices.matching import BucketIndex, Trie, search_arguments
from incrowd.kernels.slicing_matches import leaves_of, match_leaves


def exact_probabilities(
    index: BucketIndex, known: Codes, column: int, hidden: tuple[Ints, Codes, Ints]
) -> list[Fraction]:
    """Return the largest p(t,s) of each of these tuples; `hidden` is as `BucketIndex.hidden` has it for the secret."""
    if not len(known):
        return []
    trie = Trie(index, known)
    everything = search_arguments(index, trie)
    every_level = np.arange(len(index.search_order))
    buckets = index.listed[2]
    found: list[Fraction] = []
    for root in range(trie.levels[1]):
        leaf, end = leaves_of(root, trie.levels, trie.nodes)
        while leaf < end:
            # One person at a time, since whoever ends up here may match very many buckets.
            arguments = root, leaf, 1, *everything, every_level
            _, _, _, matches, _ = match_leaves(*arguments)
            entries = matches[:, 1:]
            found.append(_largest(index, entries, buckets[entries[:, 0]], column, hidden))
            leaf += 1
    return [found[leaf] for leaf in trie.leaf_of.tolist()]


def _largest(
    index: BucketIndex, entries: Ints, buckets: Ints, column: int, hidden: tuple[Ints, Codes, Ints]
) -> Fraction:
    """Return one person's largest p(t,s); `entries[i]` are those of match i by level, `buckets[i]` its bucket."""
    level = int(np.flatnonzero(index.search_order == column)[0])
    starts, codes, counts = hidden
    whole = Fraction(0)
    sums: dict[int, Fraction] = {}
    for match, bucket in zip(entries.tolist(), buckets.tolist(), strict=True):
        degree = Fraction(math.prod(index.counts[match].tolist()), int(index.sizes[bucket]) ** len(match))
        whole += degree
        here = match[level] - int(index.bases[column])
        behind = slice(starts[here], starts[here + 1])
        rows = int(counts[behind].sum())
        for code, count in zip(codes[behind].tolist(), counts[behind].tolist(), strict=True):
            sums[code] = sums.get(code, Fraction(0)) + degree * Fraction(count, rows)
    return max(sums.values()) / whole if sums else Fraction(0)

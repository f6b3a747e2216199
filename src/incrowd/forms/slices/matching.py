"""Which buckets of a sliced table a tuple matches: all whose columns each hold the tuple's value there.

The index lists the column values of every bucket. The tuples asked for are arranged as a trie, and each bucket's
values are intersected with the trie's branches, level by level. Cost: about the number of partial matches found, and
one pass over the table to build the index; tuples are never compared with one another.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import numpy as np

from incrowd.common.arrays import Codes, Floats, Ints
from incrowd.common.threads import do_together
from incrowd.forms.slices.slices import Buckets, Secret, Slices
from incrowd.kernels.slicing_index import count_entries, grow_trie, sort_by_key
from incrowd.kernels.slicing_matches import count_matches

MOST_MATCHES = 1 << 21
"""So many matches are held at once; where more people match more buckets, they are looked at in several portions."""


class BucketIndex:
    """The known parts of every bucket, column by column.

    Bucket b has, in column c, the entries `starts[c, b]:starts[c, b + 1]`: distinct known parts `values` in ascending
    order, and how many rows (`counts`) have them. Those of all columns lie one after the other. Columns are best
    searched in the order `search_order`: the fewest entries first.
    """

    def __init__(self, slices: Slices, buckets: Buckets) -> None:
        self._buckets = buckets
        self.sizes = buckets.sizes
        self.value_numbers = slices.known.max(axis=0, initial=-1).astype(np.int64) + 1
        parts = np.arange(len(buckets.tuples), dtype=np.int64)
        sensitive = {secret.column for secret in slices.secrets}
        self._entry_of: dict[int, Ints] = {}

        def of_column(column: int) -> tuple[Ints, Codes, Ints]:
            known = slices.known[buckets.tuples, column]
            found = self._count(parts, known, self.value_numbers[column], buckets.bucket_of, len(self.sizes))
            if column in sensitive:
                self._entry_of[column] = found[3]
            return found[:3]

        found = do_together(
            [partial(of_column, column) for column in range(slices.columns)], steps=len(parts) * slices.columns
        )
        starts, values, counts = zip(*found, strict=True)
        self.bases = np.cumsum([0, *(len(array) for array in values)])
        self.starts = np.stack(starts) + self.bases[:-1, None]
        self.values = np.concatenate(values)
        self.counts = np.concatenate(counts)
        varies = self.value_numbers > 1
        self.search_order = np.lexsort((np.arange(slices.columns), np.diff(self.bases), ~varies))

    def _count(
        self, parts: Ints, values: Codes, size: int, group_of: Ints, groups: int
    ) -> tuple[Ints, Codes, Ints, Ints]:
        """List the distinct values of each group; return as `count_entries` does."""
        by_group = sort_by_key(sort_by_key(parts, values, size), group_of, groups)
        return count_entries(by_group, group_of, values, self._buckets.counts, groups)

    def hidden(self, secret: Secret) -> tuple[Ints, Codes, Ints]:
        """Return where the secret's values behind each entry of its column start, the values, and their counts.

        Missing values that are ignored are left out.
        """
        codes = secret.codes[self._buckets.tuples]
        parts = np.arange(len(codes), dtype=np.int64)
        entries = int(np.diff(self.bases)[secret.column])
        size = int(codes.max(initial=-1)) + 1
        return secret.counted_values(*self._count(parts, codes, size, self._entry_of[secret.column], entries)[:3])

    @cached_property
    def shares(self) -> Floats:
        """Share of its bucket's rows that each entry is."""
        bucket_of = np.concatenate([np.repeat(np.arange(len(self.sizes)), np.diff(starts)) for starts in self.starts])
        shares: Floats = self.counts / self.sizes[bucket_of]
        return shares

    @cached_property
    def listed(self) -> tuple[Ints, Ints, Ints]:
        """The entries of the first column searched, value by value; where each value's start; each entry's bucket."""
        column = self.search_order[0]
        low, high = self.bases[column], self.bases[column + 1]
        own = self.values[low:high]
        order = sort_by_key(np.arange(high - low), own, self.value_numbers[column])
        starts = np.concatenate(([0], np.cumsum(np.bincount(own, minlength=self.value_numbers[column]))))
        bucket_of = np.zeros(high, dtype=np.int64)
        bucket_of[low:] = np.repeat(np.arange(len(self.sizes)), np.diff(self.starts[column]))
        return order + low, starts, bucket_of


class Trie:
    """Tuples of known parts, arranged for the search in an index; `leaf_of[i]` is the leaf of tuple i."""

    def __init__(self, index: BucketIndex, known: Codes) -> None:
        order = np.arange(len(known), dtype=np.int64)
        for column in index.search_order[::-1]:
            order = sort_by_key(order, known[:, column], index.value_numbers[column])
        self.leaf_of, self.levels, values, starts, first_leaves = grow_trie(order, known, index.search_order)
        self.nodes = values, starts, first_leaves

    def __len__(self) -> int:
        return int(self.levels[-1] - self.levels[-2])


def search_arguments(index: BucketIndex, trie: Trie, most: int = MOST_MATCHES) -> tuple[Any, ...]:
    """Return what the compiled searches take."""
    entries = index.values, index.shares
    return most, index.listed, trie.levels, trie.nodes, index.starts, entries, index.search_order


def matching_buckets(index: BucketIndex, known: Codes) -> Ints:
    """Return how many buckets each tuple of known parts matches; a part numbered below 0 is in no bucket."""
    return _matches(index, known)[0]


def matching_tuples(index: BucketIndex, known: Codes) -> Ints:
    """Return how many of these tuples of known parts, each counted once, match each bucket."""
    return _matches(index, known)[1]


def _matches(index: BucketIndex, known: Codes) -> tuple[Ints, Ints]:
    possible = np.flatnonzero((known >= 0).all(axis=1))
    trie = Trie(index, known[possible])
    of_leaf, of_bucket = count_matches(*search_arguments(index, trie))
    of_tuple = np.zeros(len(known), dtype=np.int64)
    of_tuple[possible] = of_leaf[trie.leaf_of]
    return of_tuple, of_bucket

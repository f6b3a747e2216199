"""The last step of slicing: in every bucket, each column's values are put in a random order of its own.

Every order is as likely as any other, and columns know nothing of one another, so within a bucket nothing is left of
who had which. Cost: one word of chance and one step for each row and column.
"""

from __future__ import annotations

import numpy as np

from incrowd.common.arrays import Ints
from incrowd.common.records import dataclass
from incrowd.common.taking import take_together
from incrowd.forms.slices.chance import shuffle_columns
from incrowd.forms.slices.slices import Buckets
from incrowd.kernels.repeating import repeat, repeat_places
from incrowd.kernels.slicing_index import sort_by_key


@dataclass(frozen=True, eq=False)
class Permuted:
    """The rows of a sliced table, bucket after bucket.

    Row r is in bucket `bucket_of[r]`, and shows in column c the value of tuple `tuples[c, r]`.
    """

    bucket_of: Ints
    tuples: Ints


def permute_columns(rng: np.random.Generator, buckets: Buckets, columns: int) -> Permuted:
    """Permute every column within buckets, independently of the others."""
    parts = sort_by_key(np.arange(len(buckets.tuples), dtype=np.int64), buckets.bucket_of, len(buckets))
    tuples, counts = take_together([buckets.tuples, buckets.counts], parts)
    sizes = buckets.sizes
    starts = np.concatenate(([0], np.cumsum(sizes)))
    return Permuted(repeat_places(sizes), shuffle_columns(rng, repeat(tuples, counts), starts, columns))

"""Whether and where tuples of codes are among many others, which are sorted once for all questions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from incrowd.common.arrays import Bools, Codes, Ints
from incrowd.common.records import dataclass

_MOST_KEYS = 2**62


@dataclass(frozen=True, eq=False)
class TupleLookup:
    """Tuples in which others are looked up.

    Columns are packed into one number of 64 bits while they fit; each entry of `steps` is one such number: which
    columns it packs, their sizes, and the sorted numbers that occur. A step begins with the place of the one before.
    """

    steps: tuple[tuple[slice, tuple[int, ...], Ints], ...]

    @classmethod
    def of(cls, tuples: Codes, sizes: Sequence[int]) -> TupleLookup:
        """Sort tuples; `sizes[j]` bounds the codes of column j.

        >>> lookup = TupleLookup.of(np.array([[0, 1], [2, 2]]), [3, 3])
        >>> lookup.has(np.array([[2, 2], [2, 1], [0, 1]])).tolist()
        [True, False, True]
        """
        steps = []
        key = np.zeros(len(tuples), dtype=np.int64)
        start, before = 0, 1
        while start < len(sizes):
            end, room = start, before
            while end < len(sizes) and (end == start or room * sizes[end] < _MOST_KEYS):
                room *= sizes[end]
                end += 1
            columns, of_columns = slice(start, end), tuple(sizes[start:end])
            known, key = np.unique(_packed(key, tuples[:, columns], of_columns), return_inverse=True)
            steps.append((columns, of_columns, known))
            start, before = end, max(len(known), 1)
        return cls(tuple(steps))

    def has(self, tuples: Codes) -> Bools:
        """Return which tuples are there."""
        return np.greater_equal(self.places(tuples), 0)

    def places(self, tuples: Codes) -> Ints:
        """Return the place of each tuple among the distinct ones in sorted order; -1 where it is not there.

        >>> TupleLookup.of(np.array([[2, 2], [0, 1]]), [3, 3]).places(np.array([[2, 2], [2, 1]])).tolist()
        [1, -1]
        """
        there = np.ones(len(tuples), dtype=bool)
        key = np.zeros(len(tuples), dtype=np.int64)
        for columns, sizes, known in self.steps:
            if not len(known):
                return np.full(len(tuples), -1, dtype=np.int64)
            wanted = _packed(key, tuples[:, columns], sizes)
            key = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
            there &= known[key] == wanted
        return np.where(there, key, -1)


def _packed(key: Ints, codes: Codes, sizes: Sequence[int]) -> Ints:
    for place, size in enumerate(sizes):
        key = key * size + codes[:, place]
    return key

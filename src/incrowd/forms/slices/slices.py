"""A table cut both ways: its attributes into columns, its rows into buckets. Numbers only; no value is needed.

What an adversary may know of a tuple in a column is the column's value without its sensitive attributes. Every such
*known part* has a number of its own in its column, and a tuple is the vector of its known parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise
from typing import TypeVar

import numpy as np

from incrowd.common.arrays import Bools, Codes, Counts, Ints, side_by_side
from incrowd.common.records import dataclass
from incrowd.common.threads import WORTH_THREADS, do_together, threads
from incrowd.core.tally import Tally, group_columns, group_tuples
from incrowd.hierarchies.tree import MISSING

AnyCodes = TypeVar("AnyCodes", Codes, Ints)

_MOST_SLOTS = 1 << 24
"""Combinations of attributes are numbered by looking them up in a table while it stays this small, else by sorting."""


@dataclass(frozen=True, eq=False)
class Secret:
    """A sensitive attribute: the column that it is published in, and each tuple's value of it.

    With `ignores_missing`, a value's share is that among the rows whose value is recorded; where there is none, the
    missing value has a share of 1.
    """

    column: int
    codes: Codes
    ignores_missing: bool = False

    @property
    def ignored(self) -> Bools:
        """Whether each tuple's value is missing and does not count."""
        return np.equal(self.codes, MISSING) & self.ignores_missing

    def counted_values(self, starts: Ints, codes: AnyCodes, counts: Ints) -> tuple[Ints, AnyCodes, Ints]:
        """Return which of the values behind some entries count; those of entry e are `starts[e]:starts[e + 1]`."""
        if not self.ignores_missing or not len(codes):
            return starts, codes, counts
        missing = codes == MISSING
        entry = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        kept = ~missing | (np.diff(starts) == 1)[entry]
        return np.concatenate(([0], np.cumsum(kept)))[starts], codes[kept], counts[kept]


@dataclass(frozen=True, eq=False)
class Slices:
    """The distinct tuples of a table, cut into columns.

    `known[i, c]` numbers the known part of tuple i in column c, from 0 on without gaps; it is 0 throughout in a column
    that holds nothing but sensitive attributes. `counts[i]` rows of the table are tuple i.
    """

    known: Codes
    secrets: tuple[Secret, ...]
    counts: Counts

    @property
    def columns(self) -> int:
        """Number of columns."""
        return int(self.known.shape[1])

    @cached_property
    def pairs(self) -> tuple[Ints, ...]:
        """For each secret, the number of each tuple's known part together with its value of the secret."""
        found = []
        for secret in self.secrets:
            both = self.known[:, secret.column], secret.codes
            sizes = [int(codes.max(initial=-1)) + 1 for codes in both]
            found.append(group_columns(both, sizes, len(self.counts))[0])
        return tuple(found)


@dataclass(frozen=True, eq=False)
class Buckets:
    """Who is permuted with whom: part p is `counts[p]` rows of tuple `tuples[p]`, in bucket `bucket_of[p]`.

    Buckets are numbered from 0 on, and none is empty.
    """

    tuples: Ints
    counts: Counts
    bucket_of: Ints

    def __len__(self) -> int:
        return int(self.bucket_of.max(initial=-1)) + 1

    @cached_property
    def sizes(self) -> Counts:
        """Rows of each bucket."""
        sizes: Counts = np.bincount(self.bucket_of, weights=self.counts, minlength=len(self)).astype(np.int64)
        sizes.setflags(write=False)  # shared by all who ask
        return sizes

    def ranges(self) -> list[tuple[int, int]]:
        """Cut the numbers of the buckets into a range for each thread, with about as many parts in each."""
        number = threads() if len(self.bucket_of) >= WORTH_THREADS else 1
        if number == 1:
            return [(0, len(self))]
        ends = np.cumsum(np.bincount(self.bucket_of))
        inner = np.searchsorted(ends, [ends[-1] * part // number for part in range(1, number)]).tolist()
        return list(pairwise(sorted({0, *inner, len(self)})))

    def between(self, first: int, last: int) -> Buckets:
        """Return some of the buckets, numbered from 0 on."""
        if (first, last) == (0, len(self)):
            return self
        own = np.flatnonzero((self.bucket_of >= first) & (self.bucket_of < last))
        return Buckets(self.tuples.take(own), self.counts.take(own), self.bucket_of.take(own) - first)


def ignoring_missing(slices: Slices) -> Slices:
    """Return the same slices with secrets whose missing values protect nobody."""
    return replace(slices, secrets=tuple(replace(secret, ignores_missing=True) for secret in slices.secrets))


def slice_tally(tally: Tally, columns: Sequence[Sequence[str]], sensitive: Sequence[str] = ()) -> Slices:
    """Cut a tally into columns of attributes. An attribute may be in several columns; a secret must be in one.

    A sensitive attribute that is in several columns is one secret in each of them.
    """
    secret = set(sensitive)
    asked = [[name for name in names if name not in secret] for names in columns]
    numbers = do_together([partial(number_combinations, tally, names) for names in asked], steps=tally.codes.size)
    known = side_by_side(numbers, len(tally))
    secrets = tuple(
        Secret(place, np.ascontiguousarray(tally.column(name)))
        for name in sorted(secret)
        for place, names in enumerate(columns)
        if name in names
    )
    return Slices(known, secrets, tally.counts)


def number_combinations(tally: Tally, names: Sequence[str]) -> Codes:
    """Number the combinations of some attributes' values that occur, in the order of their codes."""
    names = sorted(names)
    slots = 1
    for name in names:
        slots *= tally.trees[name].size
    if slots > _MOST_SLOTS:
        codes = tally.codes_of(names)
        return group_tuples(codes, [tally.trees[name].size for name in names])[0].astype(np.int32)
    key = np.zeros(len(tally), dtype=np.int64)
    for name in names:
        key = key * tally.trees[name].size + tally.column(name)
    occurs = np.zeros(slots, dtype=bool)
    occurs[key] = True
    number: Codes = (np.cumsum(occurs, dtype=np.int32) - np.int32(1))[key]
    return number


def with_secrets(slices: Slices) -> Slices:
    """Return the columns alone that have a secret."""
    columns = sorted({secret.column for secret in slices.secrets})
    secrets = tuple(replace(secret, column=columns.index(secret.column)) for secret in slices.secrets)
    return Slices(slices.known.take(columns, axis=1), secrets, slices.counts)


def whole_values(slices: Slices) -> Slices:
    """Return the same columns with nothing held back: the sensitive attributes are part of what is known."""
    known = slices.known.copy()
    for secret in slices.secrets:
        both = np.stack([known[:, secret.column], secret.codes], axis=1)
        sizes = [int(codes.max(initial=-1)) + 1 for codes in both.T]
        known[:, secret.column] = group_tuples(both, sizes)[0]
    return Slices(known, (), slices.counts)

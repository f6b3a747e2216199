"""The written rows of a sliced table as lists of column parts, and who matches which bucket: see `verify_matches`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from incrowd.common.arrays import Bools, Codes, Counts, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.common.threads import do_together
from incrowd.core.tally import group_tuples
from incrowd.forms.slices.permutation import Permuted
from incrowd.forms.slices.slices import Secret, Slices
from incrowd.kernels.run_counts import count_in_runs

_PEOPLE_AT_FIRST, _PEOPLE_AT_ONCE = 1 << 11, 1 << 15
"""The first few may show all that there is to be seen."""
_MOST_SLOTS = 8
"""A list is looked up in a table of slots while it has at most so many of them per entry, else by bisection."""


_Pairs = tuple[Ints, Codes, Counts, Ints]
"""What `count_in_runs` finds: owners, values, how many rows have them, and the pair of each row."""


@dataclass(frozen=True, eq=False)
class _Lists:
    """Every owner's parts in ascending order: owner o has the entries `starts[o]:starts[o + 1]`.

    `parts` are numbers below `kinds`.
    """

    kinds: int
    starts: Ints
    parts: Ints

    @property
    def lengths(self) -> Ints:
        return np.diff(self.starts)

    @cached_property
    def keys(self) -> Ints:
        """Owner and part of each entry in one number, ascending."""
        return np.repeat(np.arange(len(self.starts) - 1), self.lengths) * self.kinds + self.parts

    @cached_property
    def _slots(self) -> Codes | None:
        room = (len(self.starts) - 1) * self.kinds
        if room > _MOST_SLOTS * len(self.parts):
            return None
        slots = np.full(room, -1, dtype=np.int32)
        slots[self.keys] = np.arange(len(self.parts), dtype=np.int32)
        return slots

    @cached_property
    def _by_part(self) -> tuple[Ints, Ints]:
        """All entries in the order of their parts, and where each part begins there."""
        number = max(len(self.parts), 1)
        # Different numbers are sorted several times as fast as equal ones that have to keep their order.
        order = np.sort(self.parts * number + np.arange(len(self.parts))) % number
        return order, starts_of(self.parts, self.kinds)

    def prepare_having(self) -> None:
        """Find what `having` and `entries_having` look up."""
        _ = self._by_part, self.keys

    def having(self, parts: Ints) -> tuple[Ints, Ints]:
        """Return where each part begins in `entries_having`, and how many entries have it."""
        starts = self._by_part[1]
        return starts[parts], starts[parts + 1] - starts[parts]

    def entries_having(self, places: Ints) -> tuple[Ints, Ints]:
        """Return the entries at some places in the order of their parts, and their owners."""
        entries = self._by_part[0][places]
        return entries, self.keys[entries] // self.kinds

    def find(self, owners: Ints, parts: Ints) -> Ints:
        """Return the entry of each owner that has this part, or -1."""
        wanted = owners * self.kinds + parts
        if self._slots is not None:
            return np.asarray(self._slots[wanted], dtype=np.int64)
        place = np.searchsorted(self.keys, wanted)
        place[place == len(self.keys)] = 0
        place[self.keys[place] != wanted] = -1
        return place


@dataclass(frozen=True, eq=False)
class Column:
    """The known parts of each bucket in a column, how many of its rows have them, and what share of it that is."""

    entries: _Lists
    rows: Counts
    sizes: Counts
    entry_of: Ints
    """The entry that each written row belongs to."""

    @cached_property
    def shares(self) -> Floats:
        """The share of its bucket's rows that each entry has."""
        shares: Floats = self.rows / np.repeat(self.sizes, self.entries.lengths)
        return shares


@dataclass(frozen=True, eq=False)
class Hidden:
    """The values of a secret behind each entry of its column, and how many rows have them.

    Those behind entry e are `starts[e]:starts[e + 1]`.
    """

    column: int
    kinds: int
    starts: Ints
    codes: Ints
    counts: Counts
    rows: Counts
    """Rows of each entry whose value counts."""
    largest: Floats
    """Share of the most frequent value among the rows of each entry."""
    unsafe: Bools
    """Whether that is above 1/ℓ."""
    added_up: dict[tuple[tuple[int, ...], ...], Fraction] = field(default_factory=dict)
    """What was added up exactly, by the matches that it was added up from."""


@dataclass(frozen=True, eq=False)
class Matches:
    """Who may be in which bucket: match i is of person `person[i]`, whose matches lie together from `starts` on.

    `weights[i]` is the matching degree, up to a factor that each person has for themselves.
    """

    people: Codes
    starts: Ints
    person: Ints
    bucket: Ints
    weights: Floats

    @cached_property
    def number(self) -> Ints:
        """How many buckets each of the people matches."""
        return np.diff(np.append(self.starts, len(self.person)))

    @cached_property
    def whole(self) -> Floats:
        """The sum of each one's weights."""
        whole: Floats = np.add.reduceat(self.weights, self.starts)
        return whole


@dataclass(frozen=True, eq=False)
class Written:
    """What is written: columns and secrets bucket by bucket, and the different people, sorted as they are searched."""

    columns: Sequence[Column]
    secrets: Sequence[Hidden]
    varying: Sequence[int]
    """Columns in the order in which they are searched. One in which all are alike tells nobody from anybody."""
    people: Codes


def read_written(slices: Slices, written: Permuted, l: Fraction, counts: Counts | None) -> Written:
    """Count what is written in each bucket."""
    written, counts = _bucket_by_bucket(written, counts)
    places, buckets = range(slices.columns), int(written.bucket_of[-1]) + 1
    looks: list[Callable[[], Any]] = [partial(_runs, written.bucket_of)]
    looks += [partial(_kinds, slices.known[:, place]) for place in places]
    runs, *kinds = do_together(looks, steps=slices.known.size)
    # One after the other: threads share the runs of each.
    pairs = [
        count_in_runs(runs, written.tuples[place], written.bucket_of, slices.known[:, place], counts)
        for place in places
    ]
    hidden = [
        count_in_runs(runs, written.tuples[one.column], pairs[one.column][3], one.codes, counts)
        for one in slices.secrets
    ]
    varying = sorted(
        (place for place in places if kinds[place] > 1), key=lambda place: len(pairs[place][0]) / kinds[place]
    )
    people = _distinct_people(slices.known, varying, kinds)
    tasks: list[Callable[[], Any]] = [
        partial(_as_column, pairs[place], kinds[place], buckets, place in varying[:1]) for place in places
    ]
    tasks += [
        partial(_as_hidden, one, found, len(pairs[one.column][0]), l)
        for one, found in zip(slices.secrets, hidden, strict=True)
    ]
    read = do_together(tasks, steps=written.tuples.size)
    return Written(read[: slices.columns], read[slices.columns :], varying, people)


def _runs(bucket_of: Ints) -> Ints:
    """Return where the rows of each bucket begin that has any, and their end."""
    return np.concatenate(([0], np.flatnonzero(bucket_of[1:] != bucket_of[:-1]) + 1, [len(bucket_of)]))


def _kinds(known: Codes) -> int:
    return int(known.max(initial=0)) + 1


def _bucket_by_bucket(written: Permuted, counts: Counts | None) -> tuple[Permuted, Counts | None]:
    """Return the rows in the order of their buckets."""
    if (np.diff(written.bucket_of) >= 0).all():
        return written, counts
    order = np.argsort(written.bucket_of, kind="stable")
    ordered = Permuted(written.bucket_of[order], written.tuples[:, order])
    return ordered, None if counts is None else counts[order]


def _as_column(pairs: _Pairs, kinds: int, buckets: int, looked_up: bool) -> Column:
    """Return the known parts that were counted in each bucket, of so many that there are."""
    owner, parts, rows, entry_of = pairs
    sizes = np.bincount(owner, weights=rows, minlength=buckets).astype(np.int64)
    column = Column(_Lists(kinds, starts_of(owner, buckets), parts.astype(np.int64)), rows, sizes, entry_of)
    if looked_up:
        column.entries.prepare_having()
    return column


def _as_hidden(secret: Secret, pairs: _Pairs, entries: int, l: Fraction) -> Hidden:
    """Return the sensitive values that were counted beside each of the entries of their column."""
    entry, codes, rows, _ = pairs
    starts, codes, rows = secret.counted_values(starts_of(entry, entries), codes, rows)
    most, of_entry = np.maximum.reduceat(rows, starts[:-1]), np.add.reduceat(rows, starts[:-1])
    unsafe, kinds = _above_bound(most, of_entry, l), int(secret.codes.max()) + 1
    return Hidden(secret.column, kinds, starts, codes.astype(np.int64), rows, of_entry, most / of_entry, unsafe)


def _distinct_people(known: Codes, varying: Sequence[int], kinds: Sequence[int]) -> Codes:
    """Return the different people, sorted by their parts in the order of the columns to search."""
    if not varying:
        return known[:1]
    return known.take(group_tuples(known.take(varying, axis=1), [kinds[place] for place in varying])[1], axis=0)


def _above_bound(most: Counts, rows: Counts, l: Fraction) -> Bools:
    """Whether most / rows > 1 / l, in whole numbers of any size."""
    if int(rows.max(initial=0)) * max(l.numerator, l.denominator) < 2**63:
        return np.greater(most * l.numerator, rows * l.denominator)
    different, which = np.unique(rows, return_inverse=True)
    allowed = [min(number, number * l.denominator // l.numerator) for number in different.tolist()]
    return np.greater(most, np.array(allowed, dtype=np.int64)[which])


def count_keys(keys: Ints) -> tuple[Ints, Ints]:
    """Return the distinct keys in ascending order, and which of them each place has."""
    order = np.argsort(keys, kind="stable")
    ordered = keys.take(order)  # which lets other threads run
    new = np.append(True, ordered[1:] != ordered[:-1])
    which = np.empty(len(keys), dtype=np.int64)
    which[order] = np.cumsum(new) - 1
    return ordered[new], which


def starts_of(owners: Ints, number: int) -> Ints:
    """Return where each of `number` owners begins in a list that is sorted by them."""
    return np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=number))))


def spread(starts: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    """Return, for runs of places, which run each place is of, and the place."""
    run = np.repeat(np.arange(len(lengths)), lengths)
    return run, np.arange(len(run)) + (starts - np.cumsum(lengths) + lengths)[run]


def blocks(people: Codes) -> Iterator[Codes]:
    """Yield people in blocks that fit the memory."""
    first, many = 0, _PEOPLE_AT_FIRST
    while first < len(people):
        yield people[first : first + many]
        first, many = first + many, _PEOPLE_AT_ONCE


def match_people(people: Codes, columns: Sequence[Column], varying: Sequence[int], most_pairs: int) -> Matches | None:
    """Join people, sorted by their parts, with the buckets that have them all; None where these are too many pairs.

    A pair is a bucket and a *prefix*: what one or more of the people have in the columns so far. Degrees are products
    of shares, kept as a number near 1 and a power of two, since they may be far below the smallest float.
    """
    buckets = len(columns[0].sizes)
    if not varying:
        everywhere = np.arange(buckets)
        return _by_person(people, np.zeros_like(everywhere), everywhere, np.ones(buckets), np.zeros_like(everywhere))
    first, *others = varying

    def too_many(pairs: int, prefixes: _Lists) -> bool:
        return (
            pairs > most_pairs and len(prefixes.parts) > 1
        )  # fewer people have no fewer pairs where all have the same

    # The buckets of the first part are looked up: there may be many more buckets than have it.
    entries = columns[first].entries
    prefixes, prefix_of = _lengthen(np.zeros(len(people), dtype=np.int64), people[:, first], entries.kinds)
    starts, lengths = entries.having(prefixes.parts)
    if too_many(int(lengths.sum()), prefixes):
        return None
    prefix, places = spread(starts, lengths)
    entry, bucket = entries.entries_having(places)
    degree, power = np.frexp(columns[first].shares[entry])
    for place in others:
        column = columns[place]
        prefixes, prefix_of = _lengthen(prefix_of, people[:, place], column.entries.kinds)
        fewest = int(np.minimum(prefixes.lengths[prefix], column.entries.lengths[bucket]).sum())
        if too_many(fewest, prefixes):
            return None
        pair, prefix, entry = _common(prefixes, column.entries, prefix, bucket)
        bucket = bucket[pair]
        degree, more = np.frexp(degree[pair] * column.shares[entry])
        power = power[pair] + more
    return _by_person(people, prefix, bucket, degree, power)


def _lengthen(prefix_of: Ints, parts: Codes, kinds: int) -> tuple[_Lists, Ints]:
    """Return, for each prefix, the parts that people with it have in the next column; and the people's longer prefixes.

    Longer prefixes are numbered as the entries of these lists.
    """
    new = np.ones(len(parts), dtype=bool)
    new[1:] = (prefix_of[1:] != prefix_of[:-1]) | (parts[1:] != parts[:-1])
    first = np.flatnonzero(new)
    lists = _Lists(kinds, starts_of(prefix_of[first], int(prefix_of[-1]) + 1), parts[first].astype(np.int64))
    return lists, np.cumsum(new) - 1


def _common(ours: _Lists, theirs: _Lists, owner: Ints, other: Ints) -> tuple[Ints, Ints, Ints]:
    """Return all parts that `owner[i]` of ours and `other[i]` of theirs both have: the place i, and the two entries."""
    through_theirs = theirs.lengths[other] < ours.lengths[owner]
    here, there = np.flatnonzero(~through_theirs), np.flatnonzero(through_theirs)
    i, entry = _through(ours, theirs, owner[here], other[here])
    j, other_entry = _through(theirs, ours, other[there], owner[there])
    return (
        np.concatenate([here[i], there[j]]),
        np.concatenate([entry[0], other_entry[1]]),
        np.concatenate([entry[1], other_entry[0]]),
    )


def _through(short: _Lists, long: _Lists, owner: Ints, other: Ints) -> tuple[Ints, tuple[Ints, Ints]]:
    """Go through the parts of `owner[i]` and return those that `other[i]` has: the place i, and the two entries."""
    pair, entry = spread(short.starts[owner], short.lengths[owner])
    found = long.find(other[pair], short.parts[entry])
    both = found >= 0
    return pair[both], (entry[both], found[both])


def _by_person(people: Codes, person: Ints, bucket: Ints, degree: Floats, power: Ints) -> Matches:
    order = np.argsort(person, kind="stable")
    person, bucket = person[order], bucket[order]
    starts = np.flatnonzero(np.diff(person, prepend=-1))
    matching = person[starts]
    person = np.cumsum(np.diff(person, prepend=-1) > 0) - 1
    power = power[order]
    highest = np.maximum.reduceat(power, starts) if len(starts) else power
    return Matches(people[matching], starts, person, bucket, np.ldexp(degree[order], power - highest[person]))

"""Whether a sliced table, as it is written, is ℓ-diverse: the check before it leaves the house.

Methods judge their buckets with `diversity`; this is the second opinion, and shares no search with it. It starts from
the written rows, column by column. Buckets and people are two lists of owners of column parts, and a join of the two,
column after column, finds who matches which bucket: each pair of a bucket and of what some people have in common so far
goes through the shorter of two lists of parts and looks them up in the longer. Then

    p(t,s) = Σ f(t,B) · D(t,B)[s] / Σ f(t,B),    f(t,B) = Π over columns of the share of B's rows that fit t

over the buckets B that t matches, with D(t,B)[s] the share of s among the rows that fit t in the sensitive column.
Everybody in the table is judged, those who are withheld as well, and each sensitive attribute by itself.

p(t,s) is a mean of shares. So it is no larger than the mean of each bucket's largest share, which needs no sum per
sensitive value, and no larger than the largest share of all: once somebody reaches that, nobody can be worse, and the
search ends. Verdicts are exact. A person whose every share is at most 1/ℓ is fine, which whole numbers decide; floats
decide where they are clear of their own rounding; the few others are added up as whole numbers.

Cost: sorting the written rows once for each column and the people once, then about 100 ns for each pair of a bucket and
a combination of the first parts of some people that fit each other: at worst people times buckets, mostly few each,
since the most selective column comes first. People are looked at in blocks that are halved when they match too much, so
that one or two hundred million bytes are held beside the table; one person has at most one pair per bucket.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from incrowd.common.arrays import Bools, Codes, Counts, Floats, Ints
from incrowd.core.tally import group_tuples
from incrowd.forms.slices.permutation import Permuted
from incrowd.forms.slices.slices import Secret, Slices

MOST_PAIRS = 1 << 20
"""So many pairs, or sums per sensitive value, are held at once."""
_PEOPLE_AT_ONCE = 1 << 15
_EPSILON = 2.0**-52
_MOST_SLOTS = 8
"""A list is looked up in a table of slots while it has at most so many of them per entry, else by bisection."""

_CROWDED = 64
"""Where many people match the same entries, matrices are multiplied: so many steps cost less than sorting a number."""
_MOST_CELLS = 1 << 23
"""So large may these matrices be."""


@dataclass(frozen=True)
class Verdict:
    """Whether p(t,s) is at most 1/ℓ for everyone, and the largest p(t,s) of all: 0 if there is nothing to guess."""

    holds: bool
    worst: float


def verify_matches(
    slices: Slices, written: Permuted, l: Fraction, *, counts: Counts | None = None, most_pairs: int = MOST_PAIRS
) -> Verdict:
    """Return whether nobody's sensitive value is guessed with more than 1/l from the written rows, and the worst guess.

    A written row stands for `counts` rows, or for itself. `most_pairs` bounds the memory, and changes nothing else.
    """
    if not slices.secrets or not len(written.bucket_of):
        return Verdict(holds=True, worst=0.0)
    columns = [_read_column(slices, written, place, counts) for place in range(slices.columns)]
    secrets = [_read_secret(secret, columns[secret.column], written, l, counts) for secret in slices.secrets]
    # A column in which all are alike tells nobody from anybody: every share there is 1.
    varying = [place for place, column in enumerate(columns) if column.entries.kinds > 1]
    varying.sort(key=lambda place: len(columns[place].rows) / columns[place].entries.kinds)
    people = _distinct(slices.known, varying)
    judge = _Judge(columns, secrets, varying, l, most_pairs)
    for block in _blocks(people):
        judge.look_at(block)
        if judge.nothing_worse:
            break
    # What was found to hold exactly is not above the bound, whatever rounding says.
    return Verdict(judge.holds, min(judge.worst, judge.bound) if judge.holds else judge.worst)


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
class _Column:
    """The known parts of each bucket in a column, how many of its rows have them, and what share of it that is."""

    entries: _Lists
    rows: Counts
    sizes: Counts
    entry_of: Ints
    """The entry that each written row belongs to."""

    @cached_property
    def shares(self) -> Floats:
        shares: Floats = self.rows / np.repeat(self.sizes, self.entries.lengths)
        return shares


@dataclass(frozen=True, eq=False)
class _Hidden:
    """The values of a secret behind each entry of its column, and how many rows have them.

    Those behind entry e are `starts[e]:starts[e + 1]`.
    """

    column: int
    kinds: int
    starts: Ints
    codes: Ints
    counts: Counts
    rows: Counts
    """Rows of each entry."""
    largest: Floats
    """Share of the most frequent value among the rows of each entry."""
    unsafe: Bools
    """Whether that is above 1/ℓ."""
    added_up: dict[tuple[tuple[int, ...], ...], Fraction] = field(default_factory=dict)
    """What was added up exactly, by the matches that it was added up from."""


@dataclass(frozen=True, eq=False)
class _Matches:
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


def _read_column(slices: Slices, written: Permuted, place: int, counts: Counts | None) -> _Column:
    """Count the known parts that are written in each bucket."""
    known = np.ascontiguousarray(slices.known[:, place])
    kinds = int(known.max(initial=0)) + 1
    buckets = int(written.bucket_of.max()) + 1
    keys, rows, entry_of = _count(written.bucket_of * kinds + known[written.tuples[place]], counts)
    owner, parts = np.divmod(keys, kinds)
    sizes = np.bincount(owner, weights=rows, minlength=buckets).astype(np.int64)
    return _Column(_Lists(kinds, _starts(owner, buckets), parts), rows, sizes, entry_of)


def _read_secret(secret: Secret, column: _Column, written: Permuted, l: Fraction, counts: Counts | None) -> _Hidden:
    """Count the sensitive values that are written beside each known part of each bucket."""
    kinds = int(secret.codes.max()) + 1
    keys, rows, _ = _count(column.entry_of * kinds + secret.codes[written.tuples[secret.column]], counts)
    entry, codes = np.divmod(keys, kinds)
    starts = _starts(entry, len(column.rows))
    most = np.maximum.reduceat(rows, starts[:-1])
    unsafe = _above_bound(most, column.rows, l)
    return _Hidden(secret.column, kinds, starts, codes, rows, column.rows, most / column.rows, unsafe)


def _above_bound(most: Counts, rows: Counts, l: Fraction) -> Bools:
    """Whether most / rows > 1 / l, in whole numbers of any size."""
    different, which = np.unique(rows, return_inverse=True)
    allowed = [min(number, number * l.denominator // l.numerator) for number in different.tolist()]
    return np.greater(most, np.array(allowed, dtype=np.int64)[which])


def _count(keys: Ints, counts: Counts | None) -> tuple[Ints, Counts, Ints]:
    """Return the distinct keys in ascending order, how many rows have each, and which of them each row has."""
    order = np.argsort(keys, kind="stable")  # fast where rows are written bucket by bucket
    ordered = keys[order]
    new = np.append(True, ordered[1:] != ordered[:-1])
    starts = np.flatnonzero(new)
    rows = np.diff(np.append(starts, len(keys))) if counts is None else np.add.reduceat(counts[order], starts)
    which = np.empty(len(keys), dtype=np.int64)
    which[order] = np.cumsum(new) - 1
    return ordered[starts], rows, which


def _starts(owners: Ints, number: int) -> Ints:
    """Return where each of `number` owners begins in a list that is sorted by them."""
    return np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=number))))


def _spread(starts: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    """Return, for runs of places, which run each place is of, and the place."""
    run = np.repeat(np.arange(len(lengths)), lengths)
    return run, np.arange(len(run)) + (starts - np.cumsum(lengths) + lengths)[run]


def _distinct(known: Codes, varying: Sequence[int]) -> Codes:
    """Return the different people, sorted by their parts in the order of the columns to search."""
    if not varying:
        return known[:1]
    sizes = (known.max(axis=0) + 1)[varying].tolist()
    return known[group_tuples(known[:, varying], sizes)[1]]


def _blocks(people: Codes) -> Iterator[Codes]:
    for first in range(0, len(people), _PEOPLE_AT_ONCE):
        yield people[first : first + _PEOPLE_AT_ONCE]


def _match(people: Codes, columns: Sequence[_Column], varying: Sequence[int], most_pairs: int) -> _Matches | None:
    """Join people, sorted by their parts, with the buckets that have them all; None where these are too many pairs.

    A pair is a bucket and a *prefix*: what one or more of the people have in the columns so far. Degrees are products
    of shares, kept as a number near 1 and a power of two, since they may be far below the smallest float.
    """
    bucket = np.arange(len(columns[0].sizes))
    prefix, degree, power = np.zeros_like(bucket), np.ones(len(bucket)), np.zeros(len(bucket), dtype=np.int64)
    prefix_of = np.zeros(len(people), dtype=np.int64)
    for place in varying:
        column = columns[place]
        longer, prefix_of = _lengthen(prefix_of, people[:, place], column.entries.kinds)
        fewest = int(np.minimum(longer.lengths[prefix], column.entries.lengths[bucket]).sum())
        if fewest > most_pairs and len(people) > 1:
            return None
        pair, prefix, entry = _common(longer, column.entries, prefix, bucket)
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
    lists = _Lists(kinds, _starts(prefix_of[first], int(prefix_of[-1]) + 1), parts[first].astype(np.int64))
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
    pair, entry = _spread(short.starts[owner], short.lengths[owner])
    found = long.find(other[pair], short.parts[entry])
    both = found >= 0
    return pair[both], (entry[both], found[both])


def _by_person(people: Codes, person: Ints, bucket: Ints, degree: Floats, power: Ints) -> _Matches:
    order = np.argsort(person, kind="stable")
    person, bucket = person[order], bucket[order]
    starts = np.flatnonzero(np.diff(person, prepend=-1))
    matching = person[starts]
    person = np.cumsum(np.diff(person, prepend=-1) > 0) - 1
    power = power[order]
    highest = np.maximum.reduceat(power, starts) if len(starts) else power
    return _Matches(people[matching], starts, person, bucket, np.ldexp(degree[order], power - highest[person]))


@dataclass(eq=False)
class _Judge:
    """Goes through people, block by block, and keeps what was found: whether the bound holds, and the worst guess."""

    columns: Sequence[_Column]
    secrets: Sequence[_Hidden]
    varying: Sequence[int]
    l: Fraction
    most_pairs: int
    holds: bool = True
    worst: float = 0.0

    @cached_property
    def bound(self) -> float:
        """1/ℓ, rounded."""
        return float(1 / self.l)

    @property
    def nothing_worse(self) -> bool:
        """Whether somebody reaches the largest share of all, so that nobody is left who could change the verdict."""
        settled = not self.holds or not any(hidden.unsafe.any() for hidden in self.secrets)
        return settled and self.worst >= max(float(hidden.largest.max()) for hidden in self.secrets)

    def look_at(self, people: Codes) -> None:
        """Judge some people, who are sorted by their parts."""
        matches = _match(people, self.columns, self.varying, self.most_pairs)
        if matches is None:
            half = len(people) // 2
            self.look_at(people[:half])
            self.look_at(people[half:])
        elif len(matches.starts):
            for hidden in self.secrets:
                self._judge(matches, hidden)

    def _judge(self, matches: _Matches, hidden: _Hidden) -> None:
        """Judge everyone's guess of one secret: first by what it is at most, then, where that matters, as it is."""
        entry = self.columns[hidden.column].entries.find(
            matches.bucket, matches.people[matches.person, hidden.column].astype(np.int64)
        )
        largest = np.maximum.reduceat(hidden.largest[entry], matches.starts)
        mean = np.add.reduceat(matches.weights * hidden.largest[entry], matches.starts) / matches.whole
        at_most = np.minimum(mean, largest)
        risky = np.logical_or.reduceat(hidden.unsafe[entry], matches.starts)
        alone = matches.number == 1
        self.worst = max(self.worst, float(largest[alone].max(initial=0.0)))
        self.holds = self.holds and not (risky & alone).any()
        # Whoever has the largest mean is looked at first, since that may spare the others.
        order = np.argsort(-at_most, kind="stable")
        order = order[~alone[order]]
        values = np.add.reduceat(hidden.starts[entry + 1] - hidden.starts[entry], matches.starts)
        for chosen in _portions(order, values[order], self.most_pairs):
            chosen = chosen[self._matters(at_most[chosen], risky[chosen], self._doubt(matches.number[chosen]))]
            if len(chosen):
                self._add_up(matches, hidden, entry, chosen, at_most[chosen], risky[chosen])

    def _matters(self, at_most: Floats, risky: Bools, doubt: Floats) -> Bools:
        """Whether someone whose p(t,s) is at most this could be the worst, or above the bound."""
        could_exceed = risky & (at_most * (1 + doubt) >= self.bound) & self.holds
        return np.logical_or(at_most > self.worst, could_exceed)

    def _doubt(self, number: Ints) -> Floats:
        """How far two sums of so many products may be apart by rounding alone, as a share.

        A share is rounded once, a product of degrees once per column, a term twice more, a sum once per match, and the
        quotient and the bound once each: on either side at most 2 · columns + matches + 4 halves of a last place.
        """
        doubt: Floats = (2 * len(self.varying) + number + 16).astype(np.float64) * _EPSILON
        return doubt

    def _add_up(
        self, matches: _Matches, hidden: _Hidden, entry: Ints, chosen: Ints, at_most: Floats, risky: Bools
    ) -> None:
        """Add up p(t,s) for some people and every sensitive value, and judge the largest of each person."""
        whose, match = _spread(matches.starts[chosen], matches.number[chosen])
        likeliest = _largest_sums(hidden, whose, entry[match], matches.weights[match])
        # A mean of shares is no larger than the largest of them, whatever rounding says.
        found = np.minimum(likeliest / matches.whole[chosen], at_most)
        doubt = self._doubt(matches.number[chosen])
        self.holds = self.holds and not (risky & (found > self.bound * (1 + doubt))).any()
        self.worst = max(self.worst, float(found.max()))
        if self.holds:
            for person in chosen[risky & (found >= self.bound * (1 - doubt))].tolist():
                self.holds = self.holds and self._exactly(matches, hidden, entry, person) * self.l <= 1

    def _exactly(self, matches: _Matches, hidden: _Hidden, entry: Ints, person: int) -> Fraction:
        """Return a person's largest p(t,s) to the last digit; who matches alike is added up once."""
        own = slice(matches.starts[person], matches.starts[person] + matches.number[person])
        buckets = matches.bucket[own]
        columns = [self.columns[place] for place in self.varying]
        parts = [np.full_like(buckets, matches.people[person, place]) for place in self.varying]
        fits = [column.rows[column.entries.find(buckets, part)] for column, part in zip(columns, parts, strict=True)]
        sizes = self.columns[hidden.column].sizes[buckets]
        case = tuple(sorted(zip(*(array.tolist() for array in (entry[own], sizes, *fits)), strict=True)))
        if case not in hidden.added_up:
            hidden.added_up[case] = _largest_exactly(case, hidden)
        return hidden.added_up[case]


def _portions(items: Ints, costs: Ints, most: int) -> Iterator[Ints]:
    """Yield all items in their order, as many at once as cost no more than `most`, and at first only a few."""
    ends = np.cumsum(costs)
    first, room = 0, max(most // 64, 1)
    while first < len(items):
        before = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, before + room, side="right")), first + 1)
        yield items[first:last]
        first, room = last, most


def _largest_sums(hidden: _Hidden, person: Ints, entry: Ints, weights: Floats) -> Floats:
    """Return, person by person, the largest sum over the values behind the entries that a person matches."""
    different, which = np.unique(entry, return_inverse=True)
    people, values = int(person[-1]) + 1, hidden.starts[entry + 1] - hidden.starts[entry]
    cells, steps = (people + hidden.kinds) * len(different), people * len(different) * hidden.kinds
    if cells <= _MOST_CELLS and steps <= _CROWDED * int(values.sum()):
        weighing = np.zeros((people, len(different)))
        weighing[person, which] = weights
        return np.asarray((weighing @ _shares_behind(hidden, different)).max(axis=1))
    term, value = _spread(hidden.starts[entry], values)
    keys, _, which = _count(person[term] * hidden.kinds + hidden.codes[value], None)
    sums = np.bincount(which, weights=weights[term] * (hidden.counts[value] / hidden.rows[entry][term]))
    return np.asarray(np.maximum.reduceat(sums, _starts(keys // hidden.kinds, people)[:-1]), dtype=np.float64)


def _shares_behind(hidden: _Hidden, entries: Ints) -> Floats:
    """Return the share that every value has among the rows of each entry, as a matrix."""
    row, value = _spread(hidden.starts[entries], hidden.starts[entries + 1] - hidden.starts[entries])
    shares = np.zeros((len(entries), hidden.kinds))
    shares[row, hidden.codes[value]] = hidden.counts[value] / hidden.rows[entries][row]
    return shares


def _largest_exactly(case: Sequence[Sequence[int]], hidden: _Hidden) -> Fraction:
    """Return the largest p(t,s) for matches that are (entry, size of the bucket, rows that fit in each column)."""
    whole: dict[int, int] = {}
    sums: dict[tuple[int, int, int], int] = {}
    columns = len(case[0]) - 2
    for entry, size, *fits in case:
        degree = math.prod(fits)  # of size ** columns, by which sums of a kind are divided at the end
        whole[size] = whole.get(size, 0) + degree
        behind = slice(hidden.starts[entry], hidden.starts[entry + 1])
        for code, count in zip(hidden.codes[behind].tolist(), hidden.counts[behind].tolist(), strict=True):
            kind = code, size, int(hidden.rows[entry])
            sums[kind] = sums.get(kind, 0) + degree * count
    likely: dict[int, Fraction] = {}
    for (code, size, fitting), degrees in sums.items():
        likely[code] = likely.get(code, Fraction(0)) + Fraction(degrees, size**columns * fitting)
    return max(likely.values()) / sum(Fraction(degree, size**columns) for size, degree in whole.items())

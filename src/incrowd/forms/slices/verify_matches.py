"""Whether a sliced table, as it is written, is ℓ-diverse: the check before it leaves the house.

Methods judge their buckets with `diversity`; this is the second opinion, and shares no search with it. It starts from
the written rows, column by column. Buckets and people are two lists of owners of column parts, and a join of the two,
column after column, finds who matches which bucket. The buckets that have a part of the first column are looked up.
After that, each pair of a bucket and of what some people have in common so far goes through the shorter of two lists of
parts, and looks them up in the longer. Then

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
that one or two hundred million bytes are held beside the table, or some 250 for each bucket where that is more: one
person may match every bucket.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from incrowd.common.arrays import Bools, Codes, Counts, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.forms.slices.permutation import Permuted
from incrowd.forms.slices.slices import Slices
from incrowd.forms.slices.written_matches import (
    Column,
    Hidden,
    Matches,
    blocks,
    count_keys,
    match_people,
    read_written,
    spread,
    starts_of,
)

MOST_PAIRS = 1 << 20
"""So many pairs, or sums per sensitive value, are held at once; as many as buckets where these are more, since somebody
may match all of them."""
_EPSILON = 2.0**-52
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
    slices: Slices, written: Permuted, l: Fraction, *, counts: Counts | None = None, most_pairs: int | None = None
) -> Verdict:
    """Return whether nobody's sensitive value is guessed with more than 1/l from the written rows, and the worst guess.

    A written row stands for `counts` rows, or for itself. `most_pairs` bounds the memory, and changes nothing else:
    by default, one for each bucket where that is more than `MOST_PAIRS`.
    """
    if not slices.secrets or not len(written.bucket_of):
        return Verdict(holds=True, worst=0.0)

    read = read_written(slices, written, l, counts)
    most = max(MOST_PAIRS, len(read.columns[0].sizes)) if most_pairs is None else most_pairs
    judge = _Judge(read.columns, read.secrets, read.varying, l, most)
    for block in blocks(read.people):
        judge.look_at(block)
        if judge.nothing_worse:
            break
    # What was found to hold exactly is not above the bound, whatever rounding says.
    return Verdict(judge.holds, min(judge.worst, judge.bound) if judge.holds else judge.worst)


@dataclass(eq=False)
class _Judge:
    """Goes through people, block by block, and keeps what was found: whether the bound holds, and the worst guess."""

    columns: Sequence[Column]
    secrets: Sequence[Hidden]
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
        matches = match_people(people, self.columns, self.varying, self.most_pairs)
        if matches is None:
            half = len(people) // 2
            self.look_at(people[:half])
            self.look_at(people[half:])
        elif len(matches.starts):
            for hidden in self.secrets:
                self._judge(matches, hidden)

    def _judge(self, matches: Matches, hidden: Hidden) -> None:
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
        self, matches: Matches, hidden: Hidden, entry: Ints, chosen: Ints, at_most: Floats, risky: Bools
    ) -> None:
        """Add up p(t,s) for some people and every sensitive value, and judge the largest of each person."""
        whose, match = spread(matches.starts[chosen], matches.number[chosen])
        likeliest = _largest_sums(hidden, whose, entry[match], matches.weights[match])
        # A mean of shares is no larger than the largest of them, whatever rounding says.
        found = np.minimum(likeliest / matches.whole[chosen], at_most)
        doubt = self._doubt(matches.number[chosen])
        self.holds = self.holds and not (risky & (found > self.bound * (1 + doubt))).any()
        self.worst = max(self.worst, float(found.max()))
        if self.holds:
            for person in chosen[risky & (found >= self.bound * (1 - doubt))].tolist():
                self.holds = self.holds and self._exactly(matches, hidden, entry, person) * self.l <= 1

    def _exactly(self, matches: Matches, hidden: Hidden, entry: Ints, person: int) -> Fraction:
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


def _largest_sums(hidden: Hidden, person: Ints, entry: Ints, weights: Floats) -> Floats:
    """Return, person by person, the largest sum over the values behind the entries that a person matches."""
    different, which = np.unique(entry, return_inverse=True)
    people, values = int(person[-1]) + 1, hidden.starts[entry + 1] - hidden.starts[entry]
    cells, steps = (people + hidden.kinds) * len(different), people * len(different) * hidden.kinds
    if cells <= _MOST_CELLS and steps <= _CROWDED * int(values.sum()):
        weighing = np.zeros((people, len(different)))
        weighing[person, which] = weights
        return np.asarray((weighing @ _shares_behind(hidden, different)).max(axis=1))
    term, value = spread(hidden.starts[entry], values)
    keys, which = count_keys(person[term] * hidden.kinds + hidden.codes[value])
    sums = np.bincount(which, weights=weights[term] * (hidden.counts[value] / hidden.rows[entry][term]))
    return np.asarray(np.maximum.reduceat(sums, starts_of(keys // hidden.kinds, people)[:-1]), dtype=np.float64)


def _shares_behind(hidden: Hidden, entries: Ints) -> Floats:
    """Return the share that every value has among the rows of each entry, as a matrix."""
    row, value = spread(hidden.starts[entries], hidden.starts[entries + 1] - hidden.starts[entries])
    shares = np.zeros((len(entries), hidden.kinds))
    shares[row, hidden.codes[value]] = hidden.counts[value] / hidden.rows[entries][row]
    return shares


def _largest_exactly(case: Sequence[Sequence[int]], hidden: Hidden) -> Fraction:
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

"""What is kept of a person's rows: an adversary knows it of all the person's visits, or of one of them, besides the
quasi-identifiers, and looks for published histories whose labels fit and that show the same.

Where pseudonyms link rows, a history is all that is published of a person, and who knows all rows looks for a history
that shows just these. Otherwise each row is a history of its own, and who knows all rows looks for the one that is
easiest to find. One row is one of the person's, at random. The stronger outcome counts; the baseline is the same
adversary without the kept columns. Cost: a sort of the published rows, and of what is known.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from incrowd.common.arrays import Bools, Floats, Ints
from incrowd.common.percents import percent
from incrowd.common.records import dataclass
from incrowd.core.attack import Attack
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.rows_beside import KeptRows
from incrowd.core.tally import group_tuples
from incrowd.core.target import Target


@dataclass(frozen=True)
class KnownRows(Attack):
    """Pick one of the histories that a person could have of whom the kept columns of some rows are known.

    It is tried where people have several rows, and needs the table before, with the kept columns and the column that
    tells whose a row is.
    """

    name: ClassVar[str] = "known-rows"
    plain_name: ClassVar[str] = "finding a person by what is known of their rows"
    threat: ClassVar[Threat] = "linkability"
    knows_kept_columns: ClassVar[bool] = False

    def lacks(self, target: Target) -> str | None:
        """Kept columns of people with several rows are needed."""
        return None if target.kept_rows else "nobody has several rows with kept columns, or these are not known"

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return how often the history is the person's own."""
        return max((self._try(target, kept) for kept in target.kept_rows), key=lambda risk: risk.value)

    def _try(self, target: Target, kept: KeptRows) -> Risk:
        found = chances(target, kept)
        ways = {"all rows": found.all_rows, "one row": found.one_row}
        best = max(ways, key=lambda way: float(ways[way].mean()) if len(ways[way]) else 0.0)
        chance = ways[best]
        value, before = (float(each.mean()) if len(each) else 0.0 for each in (chance, found.without))
        of = f" of {kept.events}" if kept.events else ""
        one = "history" if kept.linked else "row"
        alone = float((chance >= 1 - 1e-9).sum())
        return risk_of(
            self,
            value=value,
            baseline=before,
            people=len(chance),
            worst=float(chance.max(initial=0.0)),
            exposed=alone,
            against="the same adversary without the kept columns",
            says=f"Who knows the quasi-identifiers and what is kept ({', '.join(kept.columns)}{of}) of {best} of a "
            f"person picks their {one} in {percent(value)} of the cases, without it in {percent(before)}.",
            details={
                **{f"{way} known": float(each.mean()) if len(each) else 0.0 for way, each in ways.items()},
                "alone": alone / max(len(chance), 1),
            },
        )


@dataclass(frozen=True, eq=False)
class Chances:
    """How likely each person's history is the one that is picked, by what is known."""

    all_rows: Floats
    one_row: Floats
    without: Floats


def chances(target: Target, kept: KeptRows) -> Chances:
    """Return how likely the history of each person is picked."""
    person_of = np.unique(kept.owner, return_inverse=True)[1]
    people = int(person_of.max(initial=-1)) + 1
    rows = np.bincount(person_of, weights=kept.times, minlength=people)
    fits = _Fitting.of(target, kept)
    published = len(np.unique(kept.histories))
    units = kept.everybody if kept.linked else kept.rows
    share = min(1.0, published / max(units, 1))
    # Where rows stand alone, any of the person's rows that shows the same is as good.
    own = np.ones(len(kept.times)) if kept.linked else kept.times.astype(np.float64)
    each = share * np.minimum(1.0, own * _inverse(fits.count(kept.groups, kept.shown, kept.histories, kept.known)))
    one = np.bincount(person_of, weights=each * kept.times, minlength=people) / np.maximum(rows, 1)
    nothing = np.zeros(len(kept.known), dtype=np.int64)
    by_labels = _inverse(fits.count(kept.groups, np.zeros_like(kept.shown), kept.histories, nothing))
    first = np.unique(person_of, return_index=True)[1]
    without = share * by_labels[first]
    if not kept.linked:
        without = np.minimum(1.0, without * rows)
        every = np.zeros(people)
        np.maximum.at(every, person_of, each)
        return Chances(every, one, without)
    shown, known = _whole_histories(kept, person_of, people)
    firsts = fits.of_some(first)
    alike = firsts.count(kept.groups, shown[kept.histories], kept.histories, known)
    return Chances(share * _inverse(alike), one, without)


@dataclass(frozen=True, eq=False)
class _Fitting:
    """The groups that each of some inquiries fits: entry i is group `groups[i]` of inquiry `inquiry_of[i]`."""

    inquiry_of: Ints
    groups: Ints
    number: int

    @classmethod
    def of(cls, target: Target, kept: KeptRows) -> _Fitting:
        view = target.view
        kind_of, first = group_tuples(np.maximum(kept.tuples, 0), [view.trees[name].size for name in view.columns])
        matches = view.match(np.maximum(kept.tuples[first], 0), None)
        lengths = np.where((kept.tuples < 0).any(axis=1), 0, np.diff(matches.offsets)[kind_of])
        inquiry_of = np.repeat(np.arange(len(kind_of)), lengths)
        nth = np.arange(len(inquiry_of)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return cls(inquiry_of, matches.crowds[matches.offsets[kind_of][inquiry_of] + nth], len(kind_of))

    def of_some(self, inquiries: Ints) -> _Fitting:
        """Return those of some inquiries, in this order."""
        place = np.full(self.number, -1, dtype=np.int64)
        place[inquiries] = np.arange(len(inquiries))
        kept: Bools = place[self.inquiry_of] >= 0
        return _Fitting(place[self.inquiry_of[kept]], self.groups[kept], len(inquiries))

    def count(self, groups: Ints, shown: Ints, histories: Ints, wanted: Ints) -> Ints:
        """Return, for each inquiry, how many histories of the groups that it fits show what is wanted."""
        cells = np.unique(np.stack([groups, shown, histories], axis=1), axis=0)[:, :2]
        room = int(max(shown.max(initial=0), wanted.max(initial=0))) + 1
        keys, number = np.unique(cells[:, 0] * room + cells[:, 1], return_counts=True)
        asked = self.groups * room + wanted[self.inquiry_of]
        place = np.minimum(np.searchsorted(keys, asked), max(len(keys) - 1, 0))
        there = np.where(keys[place] == asked, number[place], 0) if len(keys) else np.zeros(len(asked), np.int64)
        return np.bincount(self.inquiry_of, weights=there, minlength=self.number).astype(np.int64)


def _whole_histories(kept: KeptRows, person_of: Ints, people: int) -> tuple[Ints, Ints]:
    """Number all that histories show, row by row, and all that is known of each person, by the same numbers."""
    pairs, times = np.unique(np.stack([kept.histories, kept.shown], axis=1), axis=0, return_counts=True)
    histories = int(kept.histories.max(initial=-1)) + 1
    owner = np.concatenate([pairs[:, 0], histories + person_of])
    values = np.concatenate([pairs[:, 1], kept.known])
    room = int(max(times.max(initial=0), kept.times.max(initial=0))) + 1
    parts = values * room + np.concatenate([times, kept.times])
    order = np.lexsort((parts, owner))
    numbers = _numbers_of_lists(owner[order], parts[order], histories + people)
    return numbers[:histories], numbers[histories:]


def _numbers_of_lists(owner: Ints, parts: Ints, number: int) -> Ints:
    """Number lists that are equal alike; `owner` is sorted. Each list is told by its first part, then by the next."""
    lengths = np.bincount(owner, minlength=number)
    starts = np.cumsum(lengths) - lengths
    found = lengths.astype(np.int64)
    for place in range(int(lengths.max(initial=0))):
        some = np.flatnonzero(lengths > place)
        _, of = np.unique(np.stack([found[some], parts[starts[some] + place]], axis=1), axis=0, return_inverse=True)
        found[some] = of.ravel() + (place + 1) * (number + int(lengths.max()) + 1)
    return np.unique(found, return_inverse=True)[1]


def _inverse(numbers: Ints) -> Floats:
    return np.divide(1.0, numbers, out=np.zeros(len(numbers)), where=numbers > 0)

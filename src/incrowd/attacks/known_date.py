"""One true date: an adversary knows a person's quasi-identifiers and the date of one of their events, and looks for
published histories whose labels fit and that have an event which could be this one.

Could be: within the largest shift, in the same month, … and at the same time of day where that is published. The
adversary knows what was done to the dates, as the recipe tells it. Where pseudonyms link rows, a history is all that is
published of a person; otherwise each row is one. The baseline is the same adversary without the date.

Where intervals survive, finding the history and the event in it gives all other dates of the person: that is as likely
as one in so many pairs of a history and a date in it. Cost: a sort of the published rows, and a step for each published
date in the window of each person.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import polars as pl

from incrowd.attacks.beliefs import by_rule
from incrowd.common.arrays import Bools, Floats, Ints
from incrowd.common.percents import percent
from incrowd.common.records import dataclass
from incrowd.core.attack import Attack
from incrowd.core.dated import DatedRows
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.tally import group_tuples
from incrowd.core.target import Target
from incrowd.core.view import EVERY_ROW, SAME_ROOM, TIGHTEST
from incrowd.kernels.windows import firsts_in_windows


@dataclass(frozen=True)
class KnownDate(Attack):
    """Pick one of the histories that a person could have of whom one true date is known: any of them, or one whose
    labels fit most tightly, whichever is right more often.

    Parameters
    ----------
    column : the column of dates (default: the one that tells most).

    It needs the table before, with its dates and the column that tells whose a row is.
    """

    column: str | None = None
    name: ClassVar[str] = "known-date"
    plain_name: ClassVar[str] = "finding a person by one date"
    threat: ClassVar[Threat] = "linkability"
    knows_kept_columns: ClassVar[bool] = False

    def lacks(self, target: Target) -> str | None:
        """Published dates and true ones are needed."""
        if self.column is not None and target.dated and not self._columns(target):
            return f"'{self.column}' is no column of dates that are known"
        return None if target.dated else "no column of dates is published, or true dates are not known"

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return how often the history is the person's own."""
        return max((self._try(target, dated) for dated in self._columns(target)), key=lambda risk: risk.value)

    def _columns(self, target: Target) -> list[DatedRows]:
        return [dated for dated in target.dated if self.column in (None, dated.column)]

    def _try(self, target: Target, dated: DatedRows) -> Risk:
        left = candidates(target, dated)
        found = max(ways_to_pick(target, dated, left, left.with_date), key=lambda way: way.rate)
        before = max(ways_to_pick(target, dated, left, left.without_date), key=lambda way: way.rate)
        details = {"singled out": found.alone, "singled out without the date": before.alone}
        one = "history" if dated.linked else "row"
        says = (
            f"Who knows the quasi-identifiers and one true {dated.column} of a person picks their {one} in "
            f"{percent(found.rate)} of the cases, without the date in {percent(before.rate)}. For "
            f"{percent(found.alone)} only one {one} is left."
        )
        if dated.keeps_intervals:
            known, guessed = found.of_pairs(left)
            details |= {"all dates known": known, "all dates guessed": guessed}
            says += f" For {percent(known)} all other dates are then known."
        return risk_of(
            self,
            column=dated.column,
            value=found.rate,
            baseline=before.rate,
            people=left.people,
            exposed=found.alone * left.people,
            worst=float(_inverse(found.number).max(initial=0.0)),
            against="the same adversary without the date",
            says=f"{says}{by_rule(found.rule)}",
            details=details,
        )


@dataclass(frozen=True, eq=False)
class Candidates:
    """The groups that each person fits: entry i is group `groups[i]` of person `person_of[i]`.

    How many histories of the group could be the person's, given what is known, and how many `pairs` of a history and
    one of its dates.
    """

    people: int
    person_of: Ints
    groups: Ints
    with_date: Ints
    without_date: Ints
    pairs: Ints

    def total(self, numbers: Ints) -> Ints:
        """Add up numbers of entries, person by person."""
        return np.bincount(self.person_of, weights=numbers, minlength=self.people).astype(np.int64)


@dataclass(frozen=True, eq=False)
class WayToPick:
    """How an adversary picks a history: from `number` candidates each, which hold the person's own with a chance."""

    rule: str
    used: Bools
    """The entries whose histories are picked from."""
    number: Ints
    inside: Floats

    @property
    def rate(self) -> float:
        """How often the history is the person's own."""
        return _mean(self.inside * _inverse(self.number))

    @property
    def alone(self) -> float:
        """The share of people of whom only their own history is left."""
        return _mean(self.inside * (self.number == 1))

    def of_pairs(self, left: Candidates) -> tuple[float, float]:
        """Return how many people's own event is the only one that is left, and how often it is picked."""
        pairs = left.total(left.pairs * self.used)
        return _mean(self.inside * (pairs == 1)), _mean(self.inside * _inverse(pairs))


def ways_to_pick(target: Target, dated: DatedRows, left: Candidates, histories: Ints) -> list[WayToPick]:
    """Return the ways to pick one of some histories, entry by entry of `left`: any of those that fit, or one of those
    whose labels fit most tightly. Neither needs more than the files.
    """
    every = np.ones(len(left.groups), dtype=bool)
    number = left.total(histories)
    # Of all who fit anything, as large a share is published as there are histories.
    fitting = _mean(left.total(left.with_date) > 0)
    share = min(1.0, dated.known_share / fitting) if fitting else 0.0
    ways = [WayToPick(EVERY_ROW, every, number, np.full(left.people, share))]
    view = target.view.labels
    if view is None:
        return ways
    # With a date, groups in which no history has it are out, however tight their labels are.
    room = np.where(histories > 0, view.log_room[left.groups], np.inf)
    least = np.full(left.people, np.inf)
    np.minimum.at(least, left.person_of, room)
    tightest = (histories > 0) & (room <= least[left.person_of] + SAME_ROOM)
    if (tightest == (histories > 0)).all():
        return ways
    number = left.total(histories * tightest)
    return [*ways, WayToPick(TIGHTEST, tightest, number, _inside(dated, left, histories, tightest, number))]


def _inside(dated: DatedRows, left: Candidates, histories: Ints, tightest: Bools, number: Ints) -> Floats:
    """Return how likely each person is in the groups that fit most tightly, at most.

    Files do not tell who is in which group. But of the people for whom it is the tightest, no more can be in it than it
    has histories with a date. So an audit claims a little more than an outsider reaches, never less.
    """
    some = dated.dates.is_not_null().to_numpy()
    own = np.unique(np.stack([dated.groups[some], dated.histories[some]], axis=1), axis=0)
    there = np.bincount(own[:, 0], minlength=int(left.groups.max(initial=-1)) + 1)
    weights = np.where(tightest, histories, 0) * _inverse(number)[left.person_of]
    everybody = dated.units / max(left.people, 1)  # those who are tried may be drawn from more
    wanted = everybody * np.bincount(left.groups, weights=weights, minlength=len(there))
    share = np.minimum(1.0, np.divide(there, wanted, out=np.zeros(len(there)), where=wanted > 0))
    found = np.bincount(left.person_of, weights=weights * share[left.groups], minlength=left.people)
    return np.asarray(found, dtype=np.float64)


def candidates(target: Target, dated: DatedRows) -> Candidates:
    """Count the histories that each person could have, group by group."""
    view = target.view
    kind_of, first = group_tuples(dated.tuples, [view.trees[name].size for name in view.columns])
    matches = view.match(np.maximum(dated.tuples[first], 0), None)
    # A value that the release's trees lack fits nothing.
    strange = (dated.tuples < 0).any(axis=1)
    starts, ends = matches.offsets[kind_of], np.where(strange, matches.offsets[kind_of], matches.offsets[kind_of + 1])
    person_of = np.repeat(np.arange(len(kind_of)), ends - starts)
    nth = np.arange(len(person_of)) - np.repeat(np.cumsum(ends - starts) - (ends - starts), ends - starts)
    groups = matches.crowds[np.repeat(starts, ends - starts) + nth]

    whole = np.unique(np.stack([dated.groups, dated.histories], axis=1), axis=0)
    in_group = np.bincount(whole[:, 0], minlength=int(max(groups.max(initial=0), dated.groups.max(initial=0))) + 1)

    labels, clocks = dated.dates.drop_nulls().unique().sort(), pl.concat([dated.clocks, dated.window.clock]).unique()
    lows, highs = _places(labels, dated.window.low), _places(labels, dated.window.high, after=True)
    known_clocks = _numbers(clocks, dated.window.clock)
    some = dated.dates.is_not_null().to_numpy()
    events = np.stack(
        [
            dated.groups[some] * len(clocks) + _numbers(clocks, dated.clocks.filter(pl.Series(some))),
            _places(labels, dated.dates.filter(pl.Series(some))),
            dated.histories[some],
            dated.values.filter(pl.Series(some)).rank("dense").to_numpy(),
        ],
        axis=1,
    ).astype(np.int64)
    events = np.unique(events, axis=0)
    room = len(labels) + 1
    keys = events[:, 0] * room + events[:, 1]
    places = (groups * len(clocks) + known_clocks[person_of]) * room
    first_in = np.searchsorted(keys, places + lows[person_of])
    last_in = np.maximum(np.searchsorted(keys, places + highs[person_of]), first_in)
    return Candidates(
        people=len(dated.tuples),
        person_of=person_of,
        groups=groups,
        with_date=firsts_in_windows(_earlier(events), first_in, last_in),
        without_date=in_group[groups],
        pairs=last_in - first_in,
    )


def _earlier(events: Ints) -> Ints:
    """Return, for each event, the place of the one before it of the same history, in the same group and at the same
    time of day; -1 where there is none.
    """
    order = np.lexsort((np.arange(len(events)), events[:, 2], events[:, 0]))
    found = np.full(len(events), -1, dtype=np.int64)
    same = (events[order[1:]][:, [0, 2]] == events[order[:-1]][:, [0, 2]]).all(axis=1)
    found[order[1:][same]] = order[:-1][same]
    return found


def _places(labels: pl.Series, wanted: pl.Series, *, after: bool = False) -> Ints:
    """Return how many of the sorted labels are before each text, or up to it."""
    found = labels.search_sorted(wanted, side="right" if after else "left")
    return pl.Series(found).to_numpy().astype(np.int64)


def _numbers(texts: pl.Series, wanted: pl.Series) -> Ints:
    """Return the place of each text among distinct ones."""
    return _places(texts.sort(), wanted)


def _inverse(numbers: Ints) -> Floats:
    return np.divide(1.0, numbers, out=np.zeros(len(numbers)), where=numbers > 0)


def _mean(values: Floats | Ints | Bools) -> float:
    return float(np.mean(values)) if len(values) else 0.0

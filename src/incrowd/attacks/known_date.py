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

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from incrowd.common.arrays import Bools, Floats, Ints
from incrowd.common.percents import percent
from incrowd.core.attack import Attack
from incrowd.core.dated import DatedRows
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.tally import group_tuples
from incrowd.core.target import Target


@dataclass(frozen=True)
class KnownDate(Attack):
    """Pick one of the histories that a person could have of whom one true date is known, all equally likely.

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
        found = candidates(target, dated)
        share = found.published_share(dated.known_share)
        value, baseline = share * _mean(_inverse(found.with_date)), share * _mean(_inverse(found.without_date))
        singled, before = (share * _mean(left == 1) for left in (found.with_date, found.without_date))
        details = {"singled out": singled, "singled out without the date": before}
        one = "history" if dated.linked else "row"
        says = (
            f"Who knows the quasi-identifiers and one true {dated.column} of a person picks their {one} in "
            f"{percent(value)} of the cases, without the date in {percent(baseline)}. For {percent(singled)} only one "
            f"{one} is left."
        )
        if dated.keeps_intervals:
            known = share * _mean(found.pairs == 1)
            details |= {"all dates known": known, "all dates guessed": share * _mean(_inverse(found.pairs))}
            says += f" For {percent(known)} all other dates are then known."
        return risk_of(
            self,
            column=dated.column,
            value=value,
            baseline=baseline,
            people=len(found.with_date),
            exposed=singled * len(found.with_date),
            worst=float(_inverse(found.with_date).max(initial=0.0)),
            against="the same adversary without the date",
            says=says,
            details=details,
        )


@dataclass(frozen=True, eq=False)
class Candidates:
    """How many histories each person could have, given what is known; `pairs` of a history and one of its dates."""

    with_date: Ints
    without_date: Ints
    pairs: Ints

    def published_share(self, known_share: float) -> float:
        """Return how likely somebody who fits anything is among those published, as many as there are of them."""
        fitting = _mean(self.with_date > 0)
        return min(1.0, known_share / fitting) if fitting else 0.0


def candidates(target: Target, dated: DatedRows) -> Candidates:
    """Count the histories that each person could have."""
    from incrowd.kernels.windows import firsts_in_windows  # Numba takes long to import

    view = target.view
    kind_of, first = group_tuples(dated.tuples, [view.trees[name].size for name in view.columns])
    matches = view.match(np.maximum(dated.tuples[first], 0), None)
    # A value that the release's trees lack fits nothing.
    strange = (dated.tuples < 0).any(axis=1)
    starts, ends = matches.offsets[kind_of], np.where(strange, matches.offsets[kind_of], matches.offsets[kind_of + 1])
    person_of = np.repeat(np.arange(len(kind_of)), ends - starts)
    nth = np.arange(len(person_of)) - np.repeat(np.cumsum(ends - starts) - (ends - starts), ends - starts)
    groups = matches.crowds[np.repeat(starts, ends - starts) + nth]

    people = len(dated.tuples)
    whole = np.unique(np.stack([dated.groups, dated.histories], axis=1), axis=0)
    in_group = np.bincount(whole[:, 0], minlength=int(max(groups.max(initial=0), dated.groups.max(initial=0))) + 1)
    without = np.bincount(person_of, weights=in_group[groups], minlength=people)

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
    histories = firsts_in_windows(_earlier(events), first_in, last_in)
    return Candidates(
        np.bincount(person_of, weights=histories, minlength=people).astype(np.int64),
        without.astype(np.int64),
        np.bincount(person_of, weights=last_in - first_in, minlength=people).astype(np.int64),
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

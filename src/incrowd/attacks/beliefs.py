"""What a release lets one believe about everybody's sensitive value: the ground of every attack by inference.

Where labels overlap, there are several ways to read them (`View.readings`), and to guess what most people have is one
more. An adversary takes the best: attacks try them all (`ways_to_believe`, `best_way`).

Cost of each: people × crowds that they could be in × values of a crowd, compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Counts, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.core.target import Target
from incrowd.core.view import CORRECTED, EVERY_ROW, MAJORITY, Matches
from incrowd.hierarchies.values import as_text
from incrowd.kernels.beliefs import spread_shares

ROUNDING = 1e-9
"""Beliefs that differ by less are the same, and a guess between them is as good as the toss of a coin."""

_MOST_CORRECTED = 200
"""A column of more values is read as it is published."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Line i is `counts[i]` people with the value `values[i]`, believed with the shares `shares[kind_of[i]]`.

    `prior` is what somebody believes who knows the frequencies in the whole table and no release. It is also the
    belief about those whom nothing in the release fits. `candidates` are the published rows each kind could be.
    """

    shares: Floats
    kind_of: Ints
    values: Codes
    counts: Counts
    prior: Floats
    candidates: Floats
    rule: str = EVERY_ROW
    """How the crowds that somebody could be in were weighed."""

    @property
    def people(self) -> int:
        """How many people there are beliefs about."""
        return int(self.counts.sum())

    @cached_property
    def own(self) -> Floats:
        """The belief in each line's true value."""
        return np.asarray(self.shares[self.kind_of, self.values])

    @cached_property
    def right(self) -> Floats:
        """The probability that the likeliest value is the true one, line by line; ties are decided by a coin."""
        return hits(self.shares, self.kind_of, self.values)

    @property
    def right_before(self) -> float:
        """How often one is right who always guesses the most frequent value."""
        everybody = np.zeros(len(self.values), dtype=np.int64)
        return self.rate(hits(self.prior[None, :], everybody, self.values))

    def rate(self, success: NDArray[np.number] | NDArray[np.bool_]) -> float:
        """Return how often something happens per person, given how likely it is in each line."""
        return float((self.counts * success).sum() / max(self.people, 1))


def hits(shares: Floats, kind_of: Ints, values: Codes | Ints) -> Floats:
    """Return how likely the guess of a largest share is right, line by line."""
    largest = shares.max(axis=1)
    best = shares >= largest[:, None] - ROUNDING
    return np.asarray(best[kind_of, values] / best.sum(axis=1)[kind_of])


def beliefs_about(target: Target, column: str) -> Beliefs:
    """Return what the release says about the people who are attacked, or about its own rows if nobody knows them."""
    place = target.view.sensitive.index(column)
    size = target.view.trees[column].size
    crowds = target.view.crowds(column)
    if target.truth is None:
        entries = crowds.values
        matches = Matches(np.arange(len(crowds.sizes) + 1), np.arange(len(crowds.sizes)), np.ones(len(crowds.sizes)))
        kind_of, values, counts = entries.group_of, entries.values, entries.counts
        totals = np.bincount(values, weights=counts, minlength=size)
    else:
        people = target.people
        matches = target.matches(column)
        kind_of, values, counts = people.tuple_of, people.secrets[:, place], people.counts
        totals = target.truth.value_counts(column)
    return believe(target, column, matches, kind_of, values, counts, totals / max(totals.sum(), 1))


def ways_to_believe(target: Target, column: str) -> Iterator[Beliefs]:
    """Yield what the release says about the people who are attacked, by each rule that needs nothing but the files.

    One after the other, since each may be large. The first is `beliefs_about`, the last what most people have.
    """
    first = beliefs_about(target, column)
    yield first
    if target.truth is not None:
        for rule, matches in target.readings(column).items():
            if rule != EVERY_ROW:
                yield believe(
                    target, column, matches, first.kind_of, first.values, first.counts, first.prior, rule=rule
                )
        corrected = _corrected(target, column, first)
        if corrected is not None:
            yield corrected
    nobody = np.zeros(len(first.values), dtype=np.int64)
    everybody = np.array([float(first.candidates.max(initial=0.0))])
    yield Beliefs(first.prior[None, :], nobody, first.values, first.counts, first.prior, everybody, MAJORITY)


def _corrected(target: Target, column: str, beliefs: Beliefs) -> Beliefs | None:
    """Return beliefs in true values, where chance of known probabilities changed what is published of them."""
    changes, told = target.changes.columns.get(column, ()), target.changes.told.get(column, ())
    if sum(change.by_chance for change in changes) != 1 or not told:
        return None
    crowds, names = target.view.crowds(column).values, as_text(target.view.trees[column].values).to_list()
    shown = np.bincount(crowds.values, weights=crowds.counts, minlength=len(names)).astype(np.float64)
    there = np.flatnonzero(shown)
    if len(there) > _MOST_CORRECTED:
        return None
    values = [names[place] for place in there]
    shares = np.zeros_like(beliefs.shares)
    for one, place in enumerate(there):  # as many as there are values
        satisfied = np.zeros(len(there))
        satisfied[one] = 1.0
        counts_for = changes[-1].corrected(told[-1], values, shown[there], satisfied)
        if counts_for is None:
            return None
        shares[:, place] = np.maximum(beliefs.shares[:, there] @ counts_for, 0.0)
    totals = shares.sum(axis=1, keepdims=True)
    shares = np.where(totals > 0, shares / np.where(totals > 0, totals, 1.0), beliefs.shares)
    return replace(beliefs, shares=shares, rule=CORRECTED)


def best_way(ways: Iterable[Beliefs], rate: Callable[[Beliefs], float]) -> tuple[Beliefs, float]:
    """Return the beliefs by which the adversary is right most often, and how often; the first of several as good."""
    best: tuple[Beliefs, float] | None = None
    for beliefs in ways:
        value = rate(beliefs)
        if best is None or value > best[1] + ROUNDING:
            best = beliefs, value
    assert best is not None
    return best


def by_rule(rule: str) -> str:
    """Return a sentence on the rule by which the adversary was right most often, where it is not the plain one."""
    return "" if rule == EVERY_ROW else f" The best rule here: {rule}."


def believe(
    target: Target,
    column: str,
    matches: Matches,
    kind_of: Ints,
    values: Codes,
    counts: Counts,
    prior: Floats,
    *,
    rule: str = EVERY_ROW,
) -> Beliefs:
    """Return the beliefs of somebody who has found the crowds that people could be in."""
    crowds = target.view.crowds(column)
    shares = spread_shares(
        matches.offsets,
        matches.crowds,
        matches.weights,
        crowds.values.offsets,
        crowds.values.values,
        crowds.values.counts,
        crowds.sizes,
        len(prior),
    )
    shares[~matches.matched] = prior
    return Beliefs(shares, kind_of, values, counts, prior, matches.total(crowds.sizes), rule)

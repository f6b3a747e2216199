"""What a release lets one believe about everybody's sensitive value: the ground of every attack by inference.

Cost: people × crowds that they could be in × values of a crowd, compiled.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Counts, Floats, Ints
from incrowd.core.target import Target
from incrowd.core.view import Matches

_ROUNDING = 1e-9
"""Beliefs that differ by less are the same, and a guess between them is as good as the toss of a coin."""


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
    best = shares >= largest[:, None] - _ROUNDING
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


def believe(
    target: Target, column: str, matches: Matches, kind_of: Ints, values: Codes, counts: Counts, prior: Floats
) -> Beliefs:
    """Return the beliefs of somebody who has found the crowds that people could be in."""
    from incrowd.kernels.beliefs import spread_shares

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
    return Beliefs(shares, kind_of, values, counts, prior, matches.total(crowds.sizes))

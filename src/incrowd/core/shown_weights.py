"""What a form publishes of survey weights, and what its lines weigh together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

import numpy as np

from incrowd.common.arrays import Counts, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.kernels.keys import rank_keys


@dataclass(frozen=True, eq=False)
class ShownWeights:
    """What is published of weights: row of tuple t in group g shows `values[i]`, where `keys[i]` is made of both.

    `number_of[t]` is the weight of the form's tuple t by number, `true[t]` the weight itself. `of_people` are
    everybody's published weights, 0 for those who are withheld, and `true_of_people` their own, where somebody has
    several rows. `told` is what a reader of the release is told of all that.
    """

    number_of: Ints
    true: Floats = field(repr=False)
    keys: Ints
    values: Floats
    told: Mapping[str, Any]
    of_people: Floats | None = None
    true_of_people: Floats | None = field(default=None, repr=False)

    def of(self, groups: Ints, tuples: Ints) -> Floats:
        """Return what rows of some tuples show in some groups."""
        found = np.searchsorted(self.keys, self.key(groups, self.number_of[tuples]))
        return np.asarray(self.values[found])

    def key(self, groups: Ints, numbers: Ints) -> Ints:
        """Return one number for a group and a weight's number."""
        return np.asarray(groups * self.room + numbers)

    def by_tuple(self, tuple_of: Ints, tuples: int) -> ShownWeights:
        """Return the true weights of people's tuples, on average; what they show is told line by line."""
        assert self.true_of_people is not None
        totals = np.bincount(tuple_of, weights=self.true_of_people, minlength=tuples)
        means = totals / np.maximum(np.bincount(tuple_of, minlength=tuples), 1)
        nothing = np.empty(0)
        return ShownWeights(np.zeros(tuples, dtype=np.int64), means, nothing.astype(np.int64), nothing, self.told)

    @property
    def room(self) -> int:
        """How many different weights there are, at least."""
        return int(self.number_of.max(initial=0)) + 1


@dataclass(frozen=True, eq=False)
class WeightedLines:
    """What the rows of a form's lines weigh: `counts[i]` rows of line `line_of[i]` show the weight `weights[i]`.

    Sorted by lines, and then by weights.
    """

    line_of: Ints
    weights: Floats
    counts: Counts

    @classmethod
    def of(cls, line_of: Ints, weights: Floats, counts: Counts) -> WeightedLines:
        """Add up rows of one line that show the same."""
        distinct, number = np.unique(weights, return_inverse=True)
        room = max(len(distinct), 1)
        place, first = rank_keys(line_of * room + number, (int(line_of.max(initial=0)) + 1) * room)
        totals = np.bincount(place, weights=counts, minlength=len(first)).astype(np.int64)
        return cls(line_of[first], weights[first], totals)

    def totals(self, lines: int) -> Floats:
        """Return what each line weighs altogether."""
        totals = np.bincount(self.line_of, weights=self.weights * self.counts, minlength=lines)
        return totals.astype(np.float64)

    def reordered(self, order: Ints) -> WeightedLines:
        """Return the same of lines in another order."""
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return WeightedLines.of(place[self.line_of], self.weights, self.counts)

"""Survey weights: how many people of the population each person of a table stands for.

Weights are no part of the tally that methods search: a weight tells people apart, and says nothing of who is alike.
After the search, rows that the tally takes for one are told apart by what they weigh, and chance decides which of them
goes where. What is published of weights is decided group by group (`forms/weight_classes.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from incrowd.common.arrays import Counts, Floats, Ints
from incrowd.common.randomness import permutation
from incrowd.common.records import dataclass
from incrowd.core.people import People
from incrowd.core.recoding import Recoding
from incrowd.core.tally import Population, Tally
from incrowd.errors import SchemaError
from incrowd.hierarchies.texts import TextRules
from incrowd.hierarchies.values import as_numbers
from incrowd.kernels.keys import rank_keys

_MOST_PEOPLE = 2.0**62


def read_weights(column: str, raw: pl.Series, texts: TextRules) -> Floats:
    """Return weights as numbers; refuse, in words that quote none of them, what no survey's weight is."""
    given = texts.read(raw.alias("")) if raw.dtype == pl.String else raw.alias("")
    numbers = as_numbers(given)
    if numbers is None:
        raise SchemaError(f"column '{column}' is the weight, and not all of its values are numbers.")
    if numbers.null_count():
        raise SchemaError(
            f"column '{column}' is the weight, and some rows have none.  Hint: leave these rows out, or give them the "
            "weight 0 if they stand for nobody."
        )
    weights = numbers.cast(pl.Float64).to_numpy()
    if not np.isfinite(weights).all():
        raise SchemaError(f"column '{column}' is the weight, and some of its values are infinite.")
    if (weights < 0).any():
        raise SchemaError(
            f"column '{column}' is the weight, and some of its values are below 0: nobody stands for fewer than no "
            "people."
        )
    return np.asarray(weights, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class WeightedTuples:
    """A tally's rows, told apart by what they weigh: each row of tuple i of `tally` weighs `weights[i]`.

    Tuple i has the codes of tuple `coarse[i]` of the tally that methods search, and so tuples may be there repeatedly.
    Where people have several rows, tuples are pairs of a person and a tuple, and `of_people` are everybody's weights.
    """

    tally: Tally
    coarse: Ints
    weights: Floats
    of_people: Floats | None = None

    @classmethod
    def of_rows(cls, tally: Tally, tuple_of: Ints, weights: Floats, counts: Counts) -> tuple[WeightedTuples, Ints]:
        """Tell rows apart: `counts[i]` rows of tuple `tuple_of[i]` weigh `weights[i]`. Return each one's place, too."""
        distinct, number = np.unique(weights, return_inverse=True)
        room = max(len(distinct), 1)
        place, first = rank_keys(tuple_of * room + number, max(len(tally), 1) * room)
        coarse = tuple_of[first]
        totals = np.bincount(place, weights=counts, minlength=len(first)).astype(np.int64)
        return cls(replace(tally, codes=tally.codes[coarse], counts=totals), coarse, weights[first]), place

    @classmethod
    def of_owners(cls, column: str, people: People, entry_of: Ints, weights: Floats) -> WeightedTuples:
        """Take everybody's one weight; `weights[i]` is that of the pair `entry_of[i]` of a person and a tuple."""
        owner = people.owner[entry_of]
        lowest, highest = np.full(len(people), np.inf), np.full(len(people), -np.inf)
        np.minimum.at(lowest, owner, weights)
        np.maximum.at(highest, owner, weights)
        several = int((lowest != highest).sum())
        if several:
            raise SchemaError(
                f"column '{column}' is the weight, and {several:,} people have different weights in their rows. A "
                "person has one weight.  Hint: weigh people, not rows, or drop the column."
            )
        return cls(people.each_entry, people.tuples, lowest[people.owner], lowest)

    def totals(self, searched: Tally) -> Floats:
        """Return what the rows of each tuple of the searched tally weigh together."""
        weights = self.weights * self.tally.counts
        return np.bincount(self.coarse, weights=weights, minlength=len(searched)).astype(np.float64)

    def spread(self, recoding: Recoding, rng: np.random.Generator) -> Recoding:
        """Return a recoding of the searched tally as one of these tuples.

        Where rows of one searched tuple go to several groups, or some of them to none, chance decides which ones.
        """
        parts = np.argsort(recoding.tuples, kind="stable")
        if len(np.unique(recoding.tuples)) == len(recoding.tuples):
            assert len(parts) == int(self.coarse.max(initial=-1)) + 1  # every searched tuple is a part
            groups = recoding.groups[parts[self.coarse]]
            return replace(recoding, tuples=np.arange(len(self.tally)), counts=self.tally.counts, groups=groups)
        rows = np.repeat(np.arange(len(self.tally)), self.tally.counts)
        shuffled = rows[permutation(rng, len(rows))]
        dealt = shuffled[np.argsort(self.coarse[shuffled], kind="stable")]
        part_of = np.repeat(parts, recoding.counts[parts])
        room = max(len(parts), 1)
        place, first = rank_keys(dealt * room + part_of, max(len(self.tally), 1) * room)
        counts = np.bincount(place, minlength=len(first)).astype(np.int64)
        return replace(recoding, tuples=dealt[first], counts=counts, groups=recoding.groups[part_of[first]])


def estimated_population(tally: Tally, quasi: Sequence[str], tuples: Ints, weights: Floats, counts: Counts) -> Tally:
    """Return a tally with the population that its people's weights tell of: each stands for so many who look the same.

    `counts[i]` people of tuple `tuples[i]` weigh `weights[i]` each.
    """
    if not quasi:
        return tally
    projected, index = tally.project(quasi)
    place, number = index[tuples], len(projected)
    people = np.bincount(place, weights=weights * counts, minlength=number).astype(np.float64)
    if people.sum() > _MOST_PEOPLE:
        raise SchemaError(
            "the weights add up to more people than can be counted.  Hint: a weight is how many people of the "
            "population a person stands for."
        )
    sampled = np.bincount(place, weights=counts, minlength=number).astype(np.int64)
    known = Population(projected.columns, projected.codes, np.floor(people).astype(np.int64), (sampled, people))
    return replace(tally, population=known)

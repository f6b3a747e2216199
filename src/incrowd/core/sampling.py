"""Poisson sampling of a table, on its tally: every row stays with the same probability, whatever the others do.

Which of several equal rows stays is of no consequence to a method, so their counts are sampled and no row is read. Rows
are told apart only where columns are kept as they are, when the release is written. Cost: one random word per row.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Counts
from incrowd.common.exact import as_exact
from incrowd.common.parameters import shown_value
from incrowd.common.randomness import sample_counts
from incrowd.common.records import dataclass
from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.core.tally import Tally
from incrowd.errors import RecipeError, Unsatisfiable


@dataclass(frozen=True, eq=False)
class Sample:
    """A tally of the rows that stayed: its tuple i is tuple `tuples[i]` of the whole; `left_out` counts the others."""

    tally: Tally
    tuples: NDArray[np.int64]
    left_out: Counts

    def extend(self, recoding: Recoding) -> Recoding:
        """Return a recoding of the sample as one of the whole table, whose other rows are withheld."""
        others = np.flatnonzero(self.left_out)
        return replace(
            recoding,
            tuples=np.concatenate([self.tuples[recoding.tuples], others]),
            counts=np.concatenate([recoding.counts, self.left_out[others]]),
            groups=np.concatenate([recoding.groups, np.full(len(others), WITHHELD)]),
        )


def as_rate(rate: float | Fraction | str) -> Fraction:
    """Return a sampling rate as the number that the user wrote: 0.9 is nine tenths."""
    try:
        exact = as_exact(rate, "sample")
    except RecipeError:
        exact = Fraction(0)
    if not 0 < exact <= 1:
        raise RecipeError(f"sample is a share of the rows, above 0 and at most 1, not {shown_value(rate)}.")
    return exact


def draw_sample(tally: Tally, rate: Fraction, rng: np.random.Generator) -> Sample:
    """Keep every row of a table with the same probability."""
    kept = sample_counts(rng, rate, tally.counts)
    chosen = np.flatnonzero(kept)
    if not chosen.size:
        raise Unsatisfiable(
            f"a sample at rate {float(rate):g} of {tally.rows:,} rows came out empty.  Hint: sample more, or all rows."
        )
    sampled = replace(tally, codes=tally.codes[chosen], counts=kept[chosen], rate=tally.rate * rate, drawn_from=tally)
    return Sample(sampled, chosen, tally.counts - kept)

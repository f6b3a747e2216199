"""A release as whoever has its files reads it: counts, how sure they are, and rows to learn from.

The publisher is told the same: nothing here looks at the table behind a release.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import polars as pl

from incrowd.common.arrays import Floats
from incrowd.core.changed import ChangeFacts
from incrowd.core.estimate import CountBounds
from incrowd.core.query import Query
from incrowd.core.shown_weights import WeightedLines


class Reader(Protocol):
    """Answers from what is published alone."""

    @property
    def weighted(self) -> WeightedLines | None:
        """What its lines weigh, where there are survey weights."""
        ...

    def count(self, query: Query, *, weighted: bool = True) -> float:
        """Estimate how many published rows satisfy every condition, or what they weigh, where there are weights."""
        ...

    def bounded(self, query: Query, *, weighted: bool = True) -> CountBounds:
        """Return the same with its error, and with bounds that hold whatever is behind what is shown."""
        ...

    @property
    def assumes(self) -> str:
        """What errors rest on, in words."""
        ...

    def corrected_for(self, changes: ChangeFacts) -> Reader:
        """Return a reader that corrects for what chance did to values, as far as its probabilities are known."""
        return self

    def rows(self, rng: np.random.Generator) -> pl.DataFrame:
        """Return one row for each published one, that could be behind it."""
        ...

    def row_weights(self) -> Floats | None:
        """Return the published weight of each of these rows."""
        ...

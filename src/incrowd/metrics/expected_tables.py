"""What a release lets one see of columns and pairs of columns, in the codes of the table before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from incrowd.common.arrays import Codes, Floats
from incrowd.common.records import dataclass
from incrowd.core.form import Form
from incrowd.core.labelled import Labelled
from incrowd.core.tally import Tally
from incrowd.forms.spreading import expected_counts, expected_pairs
from incrowd.metrics.distributions import joint_counts
from incrowd.metrics.drawn_pairs import associations_of_rows, drawn_associations


@dataclass(frozen=True, eq=False)
class ExpectedTables:
    """Labels are spread evenly over what they stand for; of other forms, rows are made that could be behind them."""

    truth: Tally
    lines: Labelled | None
    codes: Mapping[str, Codes]
    weights: Floats

    @classmethod
    def of(cls, truth: Tally, form: Form, rng: np.random.Generator) -> ExpectedTables:
        """Look at a form."""
        if form.spread is not None:
            return cls(truth, form.spread, {}, np.zeros(0))
        return cls(truth, None, *form.reconstruct(rng))

    def column(self, name: str) -> Floats:
        """Return how many rows seem to have each value."""
        if self.lines is not None:
            return expected_counts(self.truth, self.lines, name)
        size = self.truth.trees[name].size
        return np.bincount(self.codes[name], weights=self.weights, minlength=size).astype(np.float64)

    def pair(self, one: str, two: str) -> Floats:
        """Return how many rows seem to have each pair of values."""
        if self.lines is not None:
            return expected_pairs(self.truth, self.lines, one, two)
        sizes = self.truth.trees[one].size, self.truth.trees[two].size
        return joint_counts(self.codes[one], self.codes[two], self.weights, sizes)

    def associations(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return how strongly pairs of columns go together, over whole rows."""
        if self.lines is not None:
            return drawn_associations(self.truth, self.lines, pairs)
        return associations_of_rows(self.truth, self.codes, pairs)

"""What a release lets one see of columns and pairs of columns, in the codes of the table before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchies.tree import Codes
from incrowd.metrics.distributions import joint_counts
from incrowd.metrics.spreading import expected_counts, expected_pairs
from incrowd.releases.generalized import Generalized
from incrowd.releases.noisy import NoisyCounts
from incrowd.releases.training import reconstruct
from incrowd.tally import Tally

if TYPE_CHECKING:
    from incrowd.releases.form import Form

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Seen:
    """Labels are spread evenly over what they stand for; of other forms, rows are made that could be behind them."""

    truth: Tally
    lines: Generalized | None
    codes: Mapping[str, Codes]
    weights: Floats

    @classmethod
    def of(cls, truth: Tally, form: Form, rng: np.random.Generator) -> Seen:
        """Look at a form."""
        shown = form.boxes if isinstance(form, NoisyCounts) else form
        if isinstance(shown, Generalized):
            return cls(truth, shown, {}, np.zeros(0))
        return cls(truth, None, *reconstruct(form, rng))

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

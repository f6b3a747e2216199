"""The people of a table, in public codes: what private methods count, with noise, and never show."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes
from incrowd.common.records import dataclass


@dataclass(frozen=True, eq=False)
class People:
    """Distinct tuples in public codes, the class of each, and how many rows there are."""

    codes: Codes
    classes: NDArray[np.int64]
    class_count: int
    counts: NDArray[np.int64]

    def count_values(self, column: int, size: int) -> NDArray[np.int64]:
        """Return how many rows of each class have each code of a column."""
        key = self.codes[:, column].astype(np.int64) * self.class_count + self.classes
        counted = np.bincount(key, weights=self.counts, minlength=size * self.class_count)
        return counted.astype(np.int64).reshape(size, self.class_count)

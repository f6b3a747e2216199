"""Means over all rows of a table, from one number per published group: what loss metrics share."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from incrowd.core.labelled import Labelled


def mean_over_rows(release: Labelled, of_groups: NDArray[np.float64], *, withheld: float) -> float:
    """Return the mean over all rows in, of a number that each group's rows share and each withheld row has."""
    total = float((of_groups * release.group_sizes).sum()) + withheld * release.withheld
    return total / max(release.rows_in, 1)


def mean_over_columns(of_columns: Mapping[str, float]) -> float:
    """Return the mean of one number per column; 0 where there are none."""
    return sum(of_columns.values()) / len(of_columns) if of_columns else 0.0

"""A small Bayesian network from the table: the sensitive value is the parent of every quasi-identifier.

Given somebody's sensitive value, quasi-identifiers are taken as independent. The shares are smoothed: each value counts
as if one more person had it, distributed as everybody is, so that what was not seen is not impossible. It knows, for
example, that the old have other diseases than the young, which independence does not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from incrowd.core.tally import Tally


def fitted_shares(tally: Tally, column: str, sensitive: str) -> NDArray[np.float64]:
    """Return Pr(code of the column | sensitive code), codes as rows and sensitive codes as columns."""
    values = tally.trees[sensitive].leaves
    size = tally.trees[column].size
    of_tuple, codes = tally.single_values(sensitive)
    pairs = tally.column(column)[of_tuple].astype(np.int64) * values + codes
    counts = np.bincount(pairs, weights=tally.counts[of_tuple], minlength=size * values).reshape(size, values)
    everybody = tally.value_counts(column)[:, None] / tally.rows
    return np.asarray((counts + everybody) / (counts.sum(axis=0) + 1.0))

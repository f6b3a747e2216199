"""Workloads of one size: random queries whose true answers are small, large, or anything but 0.

One generator serves all sizes: queries are drawn until enough of them have an answer of that size. Queries with the
answer 0 have no relative error and are drawn again. Cost: that of answering what was drawn; of queries that cannot have
a large answer, since one of their conditions alone holds for too few rows, none is answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from incrowd.common.arrays import Floats
from incrowd.core.tally import Tally
from incrowd.errors import QueryError
from incrowd.metrics.workload.cells import Cells
from incrowd.metrics.workload.queries import Workload, draw_queries, join_workloads

Size = Literal["small", "large", "unbounded"]
SHARES: Mapping[Size, tuple[float, float]] = {"small": (0.0, 0.01), "large": (0.1, 1.01), "unbounded": (0.0, 1.01)}
"""A query's answer, as a share of the rows, is above the first number and below the second (Sattar et al. 2013)."""

_FEWEST_DRAWS, _MOST_DRAWS = 1_000, 50_000
_MOST_DRAWS_IN_VAIN = 100_000
_MOST_DRAWS_PER_QUERY = 2_000


def draw_workload(
    tally: Tally, quasi: Sequence[str], sensitive: str | None, size: Size, number: int, rng: np.random.Generator
) -> tuple[Workload, Floats]:
    """Draw as many queries of a size as asked for; return them and their true answers."""
    if number < 1:
        raise QueryError(f"a workload has at least one query, not {number}.")
    table = Cells.of_tally(tally)
    least, most = (share * tally.rows for share in SHARES[size])
    parts: list[Workload] = []
    answers: list[Floats] = []
    found = tried = 0
    while found < number:
        enough = number * _MOST_DRAWS_PER_QUERY if found else _MOST_DRAWS_IN_VAIN
        if tried >= enough or most <= 1:  # no number of rows is above 0 and below 1
            raise QueryError(
                f"only {found:,} of {number:,} {size} queries were found among {tried:,} random ones.  "
                "Hint: ask for fewer queries, or about more rows."
            )
        # As many as should do, going by what was found so far, and some more.
        hoped = 1.2 * (number - found) * (tried / found if found else 1.0)
        draws = int(np.clip(hoped, _FEWEST_DRAWS, _MOST_DRAWS))
        drawn = draw_queries(tally.trees, quasi, sensitive, draws, rng)
        tried += len(drawn)
        drawn = drawn.take(np.flatnonzero(_smallest_marginal(tally, drawn) > least))
        truth = table.answers(drawn)
        fitting = np.flatnonzero((truth > least) & (truth < most))[: number - found]
        parts.append(drawn.take(fitting))
        answers.append(truth[fitting])
        found += len(fitting)
    return join_workloads(parts), np.concatenate(answers)


def _smallest_marginal(tally: Tally, drawn: Workload) -> Floats:
    """Return how many rows satisfy the most demanding single condition of each query."""
    smallest = np.full(len(drawn), float(tally.rows))
    for name in drawn.columns:
        smallest = np.minimum(smallest, drawn.matches[name] @ tally.value_counts(name).astype(np.float64))
    return smallest


def relative_errors(actual: Floats, estimated: Floats) -> Floats:
    """Return |actual − estimated| / actual."""
    return np.asarray(np.abs(actual - estimated) / actual)

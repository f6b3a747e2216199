"""The k-marginal score of NIST's Collaborative Research Cycle: how well combinations of k columns keep their shares.

1000 · (1 − the mean over combinations of k columns of half the L1 distance between their distributions): 1000 is the
table's own, 0 has none of its values. Cost: one count of each combination of columns; combinations with more than some
millions of cells are counted by what occurs.
"""

from __future__ import annotations

from itertools import combinations
from typing import ClassVar

import numpy as np

from incrowd.common.arrays import Floats, Ints
from incrowd.common.parameters import require_whole
from incrowd.common.records import dataclass
from incrowd.core.labelled import Labelled
from incrowd.core.metric import Goal, Metric
from incrowd.core.tally import Tally
from incrowd.forms.spreading import expected_counts, expected_pairs, meaning_of_lines
from incrowd.kernels.keys import rank_keys
from incrowd.metrics.distributions import LARGEST_TABLE, distances, joint_counts

_SEED = 0
"""Rows behind labels are drawn where three columns or more are counted; the same each time."""


@dataclass(frozen=True)
class KMarginal(Metric):
    """How well all combinations of `k` columns keep their distributions: 1000 for all, 0 for nothing.

    Parameters
    ----------
    k : how many columns are looked at together, from 1 to 4; NIST takes 3.

    A label's rows are spread evenly over what it may stand for: exactly for one or two columns, for more by drawing one
    value for each row, which a table with few rows pays for by chance. Withheld rows count as if they were like the
    others. Quasi-identifiers and sensitive columns are looked at.

    Reference: NIST, Collaborative Research Cycle (2023).
    """

    k: int
    name: ClassVar[str] = "k-marginal"
    plain_name: ClassVar[str] = "how well counts of several columns together are kept"
    goal: ClassVar[Goal] = "maximize"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1000.0)

    def __post_init__(self) -> None:
        require_whole(self.name, "k", self.k, at_least=1, at_most=4)

    def measure(self, before: Tally, release: Labelled) -> float:
        """Return the score; of tables with fewer than k columns, that of all of them together."""
        names = sorted(release.schema.tallied)
        if not before.rows or not names:
            return 1000.0
        if not release.rows:
            return 0.0
        together = min(self.k, len(names))
        drawn = None if together < 3 else _drawn(before, release, names)
        found = [_distance(before, release, chosen, drawn) for chosen in combinations(names, together)]
        return 1000.0 * (1.0 - sum(found) / len(found))


def _distance(
    before: Tally, release: Labelled, chosen: tuple[str, ...], drawn: tuple[dict[str, Ints], Ints] | None
) -> float:
    """Return half the L1 distance between the distributions of some columns."""
    weights = before.counts.astype(np.float64)
    if len(chosen) == 1:
        old = before.value_counts(chosen[0]).astype(np.float64)
        return distances(old, expected_counts(before, release, chosen[0])).total_variation
    sizes = [before.trees[name].size for name in chosen]
    if len(chosen) == 2 and sizes[0] * sizes[1] <= LARGEST_TABLE:
        old = joint_counts(before.column(chosen[0]), before.column(chosen[1]), weights, (sizes[0], sizes[1]))
        return distances(old, expected_pairs(before, release, *chosen)).total_variation
    codes, counts = _drawn(before, release, list(chosen)) if drawn is None else drawn
    room, key_before, key_after = 1, np.zeros(len(before), dtype=np.int64), np.zeros(len(counts), dtype=np.int64)
    for name, size in zip(chosen, sizes, strict=True):
        key_before = key_before * size + before.column(name)
        key_after = key_after * size + codes[name]
        room *= size
    number, first = rank_keys(np.concatenate([key_before, key_after]), room)
    one = np.bincount(number[: len(key_before)], weights, len(first)).astype(np.float64)
    other = np.bincount(number[len(key_before) :], counts, len(first)).astype(np.float64)
    return distances(one, other).total_variation


def _drawn(before: Tally, release: Labelled, names: list[str]) -> tuple[dict[str, Ints], Ints]:
    """Draw one value for each published row and column, evenly from what its label may stand for."""
    rng = np.random.default_rng(_SEED)
    # In the order of what is shown, so that the order of lines changes nothing.
    line = np.repeat(np.arange(len(release.counts)), release.counts)
    meant = {name: meaning_of_lines(before, release, name) for name in names}
    order = np.lexsort([ends for one in meant.values() for ends in (one.lows, one.highs)])
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    line = line[np.argsort(rank[line], kind="stable")]
    found: dict[str, Ints] = {}
    for name, one in meant.items():
        places: Floats = rng.random(len(line))
        found[name] = one.codes(line, (places * one.widths(before.trees[name].size)[line]).astype(np.int64))
    return found, np.ones(len(line), dtype=np.int64)

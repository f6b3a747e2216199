"""Max.k and Avg.k (Sattar et al. 2013, Table 5): the k at which Mondrian does what another method did.

Max.k is the smallest k at which every row of Mondrian's table meets a requirement that Mondrian was not asked for: how
much plain k-anonymity one has to buy for the same protection. Avg.k is the mean group size of a method's own table, as
a k: about as many groups, whatever they protect. Cost: for Max.k, some 2 log2(k) Mondrian searches plus `patience`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import ClassVar

import numpy as np

from incrowd.common.progress import Progress, silent
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups
from incrowd.core.labelled import Labelled
from incrowd.core.method import Method
from incrowd.core.metric import Goal
from incrowd.core.model import Model, histograms
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.errors import Unsatisfiable
from incrowd.forms.generalized import Generalized
from incrowd.forms.verify import groups_of
from incrowd.methods.mondrian import Mondrian
from incrowd.metrics.average_group_size import AverageGroupSize
from incrowd.models.expected_confidence import ExpectedConfidence
from incrowd.models.k_anonymity import KAnonymity


@dataclass(frozen=True)
class MaxK:
    """The smallest k at which every row of Mondrian's table of the same data meets the models."""

    require: tuple[Model, ...] = field(default_factory=lambda: (ExpectedConfidence(),))
    name: ClassVar[str] = "max-k"
    goal: ClassVar[Goal] = "minimize"
    bounds: ClassVar[tuple[float, float]] = (1.0, float("inf"))

    def measure(self, before: Tally, release: Labelled) -> float:
        """Return it for the table that a release was made from; the release itself says only what is sensitive."""
        return float(max_k(before, release.schema, self.require))


def avg_k(release: Labelled) -> int:
    """Return the mean group size of a release as a k for Mondrian: rounded, and at least 1."""
    return max(round(AverageGroupSize().measure(release.tally, release)), 1)


def max_k(
    tally: Tally,
    schema: Schema,
    require: Sequence[Model],
    *,
    method: Method | None = None,
    patience: int | None = 20,
    progress: Progress = silent,
) -> int:
    """Return the smallest k at which all rows of a table that was only made k-anonymous meet the models.

    More k is not always more: the cuts fall elsewhere, and a table for k + 1 may have a row that fails where that for k
    has none. So k is doubled until all rows meet the models, halved down to a k that does above one that does not, and
    then every smaller k is tried until `patience` of them in a row fail; with None, all of them down to 1, which is
    sure and slow.
    """
    searches = _Searches(tally, schema, tuple(require), method or Mondrian(), progress)
    high = 1
    while not searches.meets(high):
        if high >= tally.rows:
            raise Unsatisfiable(
                f"all {tally.rows:,} rows in one group do not satisfy {', '.join(map(str, require))}: no k is enough.  "
                "Hint: ask for less, or give more rows."
            )
        high = min(2 * high, tally.rows)
    low = high // 2  # failed, or is 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if searches.meets(middle) else (middle, high)
    best, failures = high, 0
    for k in range(high - 1, 0, -1):
        if searches.meets(k):
            best, failures = k, 0
        else:
            failures += 1
            if patience is not None and failures >= patience:
                break
    return best


@dataclass(frozen=True, eq=False)
class _Searches:
    """Tables by k, looked at once each."""

    tally: Tally
    schema: Schema
    require: tuple[Model, ...]
    method: Method
    progress: Progress
    verdicts: dict[int, bool] = field(default_factory=dict)

    def meets(self, k: int) -> bool:
        if k not in self.verdicts:
            self.progress("searching Max.k", 0.0)
            rng = np.random.default_rng(0)  # Mondrian takes no chances
            found = self.method.search(self.tally, self.schema, [KAnonymity(k)], rng=rng, progress=silent)
            release = Generalized.of(self.tally, self.schema, found)
            self.verdicts[k] = unsatisfied_share(self.tally, release, self.require) == 0.0
        return self.verdicts[k]


def unsatisfied_share(before: Tally, release: Labelled, require: Sequence[Model]) -> float:
    """Return the share of published rows that break a model, whether or not the release was to satisfy it.

    A model that can tell rows of a group apart by their sensitive value is asked about each; of others, a whole group
    meets the model or does not. A row that breaks several models counts once.
    """
    groups = groups_of(
        release.lines(),
        tuple(release.schema.quasi),
        tuple(release.schema.sensitive),
        before=before,
        stands_for=release.stands_for(),
    )
    broken = np.zeros(len(release.counts), dtype=bool)
    for model in require:
        broken |= _breaking_lines(model, groups, release)
    return float(release.counts[broken].sum()) / max(release.rows, 1)


def _breaking_lines(model: Model, groups: Groups, release: Labelled) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which distinct published rows break a model; groups come in the order in which the lines show them."""
    place = np.unique(release.groups, return_inverse=True)[1]  # among the groups that anybody is in
    if not model.judges_entries:
        return np.asarray(~model.satisfied(groups)[place])
    broken = np.zeros(len(release.counts), dtype=bool)
    names = list(release.schema.sensitive)
    for name, histogram in histograms(groups, model.column).items():
        size = groups.trees[name].size
        failed = ~model.satisfied_entries(groups, name, histogram)
        failing = histogram.group_of[failed] * size + histogram.values[failed]
        broken |= np.isin(place * size + release.sensitive[:, names.index(name)], failing)
    return broken

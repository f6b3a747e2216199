"""Top-down specialization: from "anything" to as much as is safe, what tells most first (Fung, Wang & Yu 2005).

Every column has one cut through its hierarchy. A step replaces one node of one cut by its children, in all rows; of the
steps that keep every model, it is the one with the best score, information gain / (anonymity loss + 1). The gain is
about a class attribute, the loss is how much smaller the smallest group becomes. Cost: steps × columns × distinct
tuples; there is at most one step per node of the hierarchies. All nodes of a column are tried in one pass, since a
tuple is under one of them only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from incrowd.common.parameters import require_number
from incrowd.common.progress import Progress
from incrowd.core.method import Method, require_possible
from incrowd.core.model import Model, satisfies_all
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.methods.class_column import classes_of, require_target
from incrowd.methods.deadline import Deadline
from incrowd.methods.grouping import Grouper
from incrowd.methods.taxonomy import Cuts, group_values, least_elsewhere, least_within


@dataclass(frozen=True)
class TopDownSpecialization(Method):
    """Specialize from the top down, one cut per hierarchy, and keep what a classifier of `target` needs.

    Parameters
    ----------
    target : a sensitive column or quasi-identifier (default: the combination of all sensitive columns).
    max_seconds : ends a long search: what was safe by then is published (default: None, search to the end).

    Numbers are specialized along their hierarchy's intervals too, where the paper looks for a best threshold. Steps
    that gain nothing are taken when no other is left, as in the paper. Equal scores go to the smaller anonymity loss,
    then to what narrows the most rows.

    Reference: Fung, Wang & Yu (2005).
    """

    target: str | None = None
    max_seconds: float | None = None
    name: ClassVar[str] = "top-down-specialization"

    def __post_init__(self) -> None:
        require_target(self.name, self.target)
        if self.max_seconds is not None:
            require_number(self.name, "max_seconds", self.max_seconds, above=0)

    def search(
        self,
        tally: Tally,
        schema: Schema,
        require: Sequence[Model],
        *,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Recoding:
        """Specialize until no step is safe. Deterministic: `rng` is not used."""
        grouper = Grouper(tally, tuple(sorted(schema.sensitive)))
        require_possible(require, grouper.whole())
        search = _Search(Cuts(tally, tuple(sorted(schema.quasi)), *classes_of(tally, schema, self.target)), grouper)
        search.specialize(require, Deadline(self.max_seconds), progress)
        return search.space.recode(search.cuts)


class _Search:
    """The cuts so far, the groups they make, and the nodes that can never be specialized."""

    def __init__(self, space: Cuts, grouper: Grouper) -> None:
        self.space = space
        self.cuts = [taxonomy.cut_at(len(taxonomy) - 1) for taxonomy in space.taxonomies]
        self._grouper = grouper
        self._closed = [taxonomy.levels == 0 for taxonomy in space.taxonomies]
        self._group_of, self._groups = space.group(space.keys(self.cuts))

    def specialize(self, require: Sequence[Model], deadline: Deadline, progress: Progress) -> None:
        """Take the best safe step as long as there is one, and time."""
        # Where joining safe groups is always safe, a step that is unsafe now is so for good: groups only get smaller.
        for_good = all(model.monotone for model in require)
        steps = sum(int((~closed).sum()) for closed in self._closed)
        taken = 0
        while not deadline.passed():
            tried = [self._try(place, require, for_good=for_good) for place in range(len(self.cuts))]
            best = max((step for step in tried if step), default=None)
            if best is None:
                return
            place, node = -best[3], -best[4]
            cut = self.cuts[place]
            self.cuts[place] = np.where(cut == node, self.space.taxonomies[place].below(cut), cut)
            self._closed[place][node] = True
            self._group_of, self._groups = self.space.group(self.space.keys(self.cuts))
            taken += 1
            progress("specializing", taken / steps)

    def _try(
        self, place: int, require: Sequence[Model], *, for_good: bool
    ) -> tuple[float, int, float, int, int] | None:
        """Return a column's best safe step: what it is ranked by (more is better), and minus its column and node."""
        taxonomy, cut, closed = self.space.taxonomies[place], self.cuts[place], self._closed[place]
        count = len(taxonomy)
        candidates = np.unique(cut[(cut >= 0) & ~closed[cut]])
        if not candidates.size:
            return None
        below = np.where(closed[cut], cut, taxonomy.below(cut))
        part_of, parts = self.space.split(self._group_of, place, below)
        shown = cut[self.space.codes[:, place]]
        judged = self._grouper.groups(part_of, parts)
        node_of_part = group_values(part_of, parts, shown)
        node_of_group = group_values(self._group_of, self._groups, shown)
        unsafe = np.zeros(count, dtype=bool)
        unsafe[node_of_part[~satisfies_all(require, judged)]] = True
        if for_good:
            closed |= unsafe
        candidates = candidates[~unsafe[candidates]]
        if not candidates.size:
            return None
        sizes = self._grouper.sizes(self._group_of, self._groups)
        after = np.minimum(
            least_within(judged.sizes, node_of_part, count), least_elsewhere(sizes, node_of_group, count)
        )
        losses = sizes.min() - after[candidates]
        scores = taxonomy.gains[candidates] / (losses + 1)
        costs = taxonomy.costs[candidates]
        best = np.lexsort((candidates, -costs, losses, -scores))[0]
        return float(scores[best]), -int(losses[best]), float(costs[best]), -place, -int(candidates[best])

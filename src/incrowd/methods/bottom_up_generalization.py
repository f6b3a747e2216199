"""Bottom-up generalization: from the values up, what tells least first (Wang, Yu & Chakraborty 2004).

Every column has one cut through its hierarchy. A step replaces all children of one node by that node, in all rows; it
is the one with the least information loss per anonymity gain, until all groups satisfy the models. The loss is about a
class attribute, the gain is how much larger the smallest group becomes. Cost: steps × columns × distinct tuples; there
is at most one step per node of the hierarchies. All nodes of a column are tried in one pass, since a tuple is under one
of them only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from incrowd.common.arrays import Ints
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
class BottomUpGeneralization(Method):
    """Generalize from the bottom up, one cut per hierarchy, and keep what a classifier of `target` needs.

    Parameters
    ----------
    target : a sensitive column or quasi-identifier (default: the combination of all sensitive columns).
    max_seconds : ends a long search: all columns then go up together until groups are safe (default: None).

    Steps that make the smallest group larger come first; among them, the one with the least loss / gain. If no step
    does, the one with the least loss is taken. Ties go to the step that widens the fewest rows by the least.

    Reference: Wang, Yu & Chakraborty (2004).
    """

    target: str | None = None
    max_seconds: float | None = None
    name: ClassVar[str] = "bottom-up-generalization"

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
        """Generalize until all groups satisfy the models. Deterministic: `rng` is not used."""
        grouper = Grouper(tally, tuple(sorted(schema.sensitive)))
        require_possible(require, grouper.whole())
        space = Cuts(tally, tuple(sorted(schema.quasi)), *classes_of(tally, schema, self.target))
        cuts = [taxonomy.cut_at(None) for taxonomy in space.taxonomies]
        steps = sum(int((taxonomy.levels > 0).sum()) for taxonomy in space.taxonomies)
        taken, deadline = 0, Deadline(self.max_seconds)
        while True:
            group_of, groups = space.group(cuts)
            if satisfies_all(require, grouper.groups(group_of, groups)).all():
                return space.recode(cuts)
            if deadline.passed():
                cuts = [taxonomy.above(cut) for taxonomy, cut in zip(space.taxonomies, cuts, strict=True)]
                continue
            tried = [_try(space, grouper, cuts, place, group_of, groups) for place in range(len(cuts))]
            best = min(step for step in tried if step)
            place, node = best[3], best[4]
            above = space.taxonomies[place].above(cuts[place])
            cuts[place] = np.where(above == node, node, cuts[place])
            taken += 1
            progress("generalizing", taken / steps)


def _try(
    space: Cuts, grouper: Grouper, cuts: list[Ints], place: int, group_of: Ints, groups: int
) -> tuple[bool, float, float, int, int] | None:
    """Return a column's best step: what it is ranked by (less is better), its column and its node."""
    taxonomy, cut = space.taxonomies[place], cuts[place]
    count = len(taxonomy)
    above = taxonomy.above(cut)
    candidates = np.unique(above[above != cut])
    if not candidates.size:
        return None
    joint_of, joints = space.group([*cuts[:place], above, *cuts[place + 1 :]])
    shown = above[space.codes[:, place]]
    sizes = grouper.sizes(group_of, groups)
    after = np.minimum(
        least_within(grouper.sizes(joint_of, joints), group_values(joint_of, joints, shown), count),
        least_elsewhere(sizes, group_values(group_of, groups, shown), count),
    )
    gains = after[candidates] - sizes.min()
    losses = taxonomy.gains[candidates]
    ratios = losses / np.maximum(gains, 1)
    costs = taxonomy.costs[candidates]
    best = np.lexsort((candidates, costs, ratios, gains == 0))[0]
    return bool(gains[best] == 0), float(ratios[best]), float(costs[best]), place, int(candidates[best])

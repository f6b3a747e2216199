"""Local recoding by level vectors: every group has levels of its own, as low as its people allow.

Round after round, the vector that loses least among those not yet tried gives the remaining rows the groups that are
large enough at it, and the rest go on to the next (in the manner of the iterated full-domain recoding of Prasser et al.
2020). Groups that are large enough and still fail a model then join others (`leftover_joining.py`). Cost: vectors ×
remaining distinct tuples, which fall off quickly, and the joining. Where they do not fall off, as with many columns,
vectors are left out evenly (`level_order.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from incrowd.common.arrays import Ints
from incrowd.common.progress import Progress
from incrowd.core.model import Model
from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.errors import Unsatisfiable
from incrowd.methods.deadline import Deadline
from incrowd.methods.lattice import Lattice, Levels
from incrowd.methods.leftover_groups import LocalGroups
from incrowd.methods.leftover_joining import Joining
from incrowd.methods.level_order import UNTRIED, Patience, by_loss
from incrowd.methods.shortfall import describe_shortfall

_MOST_VECTORS = 100_000
_VECTORS_AT_ONCE = 256
"""Between two looks at the clock."""


def recode_locally(
    lattice: Lattice, require: Sequence[Model], *, most_withheld: int, deadline: Deadline, progress: Progress
) -> Recoding:
    """Return groups with levels of their own, at most `most_withheld` rows withheld, or raise `Unsatisfiable`."""
    min_group = max((model.min_group for model in require), default=1)
    nodes = by_loss(lattice, _MOST_VECTORS)
    start, untried = _sweep(lattice, nodes, min_group, deadline, progress)
    # Withholding where it costs less may use up what groups need that cannot be published at all.
    for may_withhold in dict.fromkeys((most_withheld, 0)):
        groups = LocalGroups(lattice, start.copy(), require)
        Joining(groups, nodes[-1], most_withheld=may_withhold).run(deadline, progress)
        withheld = int(lattice.tally.rows - groups.sizes[~groups.failing].sum())
        if withheld <= most_withheld:
            groups.replace(np.where(groups.failing, WITHHELD, np.arange(len(groups))))
            found = groups.recoding()
            return replace(found, told={UNTRIED: untried}) if untried else found
    said = describe_shortfall(
        "no recoding was found that satisfies",
        require,
        groups.as_groups(),
        withheld=withheld,
        most_withheld=most_withheld,
        rows=lattice.tally.rows,
    )
    raise Unsatisfiable(said)


def _sweep(lattice: Lattice, nodes: Levels, min_group: int, deadline: Deadline, progress: Progress) -> tuple[Ints, int]:
    """Return the group of each row, and how many vectors were not tried.

    What no vector puts into a large enough group is left in small ones.
    """
    rows = lattice.all_rows()
    first_keys = lattice.keys_of(nodes)
    group_of = np.full(len(rows.counts), -1, dtype=np.int64)
    left = np.arange(len(rows.counts))
    here, sizes = np.empty_like(left), np.empty_like(left)
    groups, patience = 0, Patience(len(nodes), len(lattice.columns), deadline)
    try:
        while len(patience.untried) and len(left):
            some = patience.next(_VECTORS_AT_ONCE, len(left))
            patience.looked(len(some), len(left))
            many, groups = lattice.kernel.sweep_sizes(
                rows.codes, rows.counts, left, lattice.keys, first_keys[some], min_group, group_of, groups, here, sizes,
                lattice.slots, lattice.slot_keys, lattice.used,
            )  # fmt: skip
            left = left[:many]
            progress("recoding", max(float(some[-1]) / len(nodes), 1.0 - many / len(group_of)))
            if deadline.passed():
                break
    except KeyboardInterrupt:
        deadline.stop()
    groups = int(group_of.max(initial=-1)) + 1  # an interrupt may come before it is said how many there are
    # People with the same quasi-identifiers stay together; in a hurry, all that may be joined do.
    levels = nodes[-1] if deadline.passed() else nodes[0]
    remaining = np.flatnonzero(group_of < 0)
    keys = lattice.keys[lattice.keys_of(levels[None])[0] + rows.codes[remaining]].sum(axis=1)
    group_of[remaining] = groups + np.unique(keys, return_inverse=True)[1]
    return group_of, patience.not_tried(all_done=not remaining.size)

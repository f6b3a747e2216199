"""The flat noisy histogram (Dwork, McSherry, Nissim & Smith 2006): every combination of values is counted with noise.

The yardstick of all other private tables: nothing is chosen by looking, so all of ε goes into the counts; but every
combination gets noise, also the many where nobody is. Cost: combinations of values at the levels asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.exact import Exact
from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.dp.accountant import Accountant
from incrowd.dp.boxes.noisy_tree import NoisyTree, leaf_counts
from incrowd.dp.budget import Budget
from incrowd.hierarchies.public import Undeclared
from incrowd.methods.fixed_levels import cuts_at_levels, require_levels
from incrowd.methods.leaf_adjustment import LeafAdjustment, require_adjustment, shown_counts
from incrowd.methods.private import (
    PrivateMethod,
    PublicTable,
    as_written,
    column_names,
    require_error_share,
    require_most_rows,
    require_undeclared,
)


@dataclass(frozen=True)
class FlatHistogram(PrivateMethod):
    """Noisy counts of every combination of values, under ε-differential privacy.

    Parameters
    ----------
    epsilon : the ε to spend: a number, or text such as "1/3", which is read exactly.
    levels : the level of each column's hierarchy that is counted (default: 0 for columns that are not named).
    missing : columns that may have missing values (default: none).
    undeclared : "refuse" or "missing": what happens to values that were not declared, as in `DiffGen` (default:
        "missing").
    adjust : "total" or "as-printed" (default: "total"): published counts add up to what was counted of everybody, or
        noise below 0 is no count, which leaves too many rows, as in the paper. Questions are answered alike.
    error_share : the share of ε that tells how wrong counts are which ask for a part of a box, at least 0 and below 1
        (default: "1/20"); it is spent only where a level above 0 is asked for.
    most_rows : how many rows of each person are counted at most, chosen at random; given where the schema has a person
        column and only then. ε is then promised per person.

    >>> import incrowd as ic
    >>> known = {"age": ic.Intervals(widths=(5, 10), lower=15, upper=90)}
    >>> table = ic.read(ic.datasets.census(1000), quasi=["age"], hierarchies=known, others="drop")
    >>> release = ic.publish(table, method=FlatHistogram(1, levels={"age": 2}))
    >>> release.form.counts.columns
    ['age', 'count']

    Reference: Dwork, McSherry, Nissim & Smith (2006).
    """

    epsilon: Exact
    levels: Mapping[str, int] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    undeclared: Undeclared = "missing"
    most_rows: int | None = None
    adjust: LeafAdjustment = "total"
    error_share: Exact = "1/20"
    name: ClassVar[str] = "flat-histogram"
    private: ClassVar[bool] = True

    def __post_init__(self) -> None:
        Budget(self.epsilon)
        object.__setattr__(self, "epsilon", as_written(self.epsilon))
        object.__setattr__(self, "missing", column_names(self.name, self.missing))
        require_undeclared(self.name, self.undeclared)
        require_most_rows(self.name, self.most_rows)
        require_levels(self.name, self.levels)
        require_adjustment(self.name, self.adjust)
        object.__setattr__(self, "error_share", require_error_share(self.name, self.error_share))

    @property
    def errors_are_measured(self) -> bool:
        """Where rows are spread inside of nodes."""
        return any(self.levels.values()) and super().errors_are_measured

    @property
    def budget(self) -> Budget:
        """All that it may spend, of each row or person."""
        return Budget(self.epsilon)

    def measure(
        self, table: PublicTable, *, rng: np.random.Generator, progress: Progress, accountant: Accountant
    ) -> tuple[NoisyTree, NDArray[np.int64]]:
        """Count; return the boxes and what is published of each."""
        cuts = cuts_at_levels(table, self.levels)
        progress("counting", 0.0)
        accountant.spend("counts of all combinations", self.budget)
        tree = leaf_counts(table.people, cuts, epsilon=self.budget.epsilon, rng=rng)
        progress("counting", 1.0)
        return tree, shown_counts(tree.noisy, self.adjust)

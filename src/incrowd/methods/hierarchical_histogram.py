"""The hierarchical histogram of Hay, Rastogi, Miklau & Suciu (2010): noisy counts of a column's intervals of all sizes.

The column's values are divided into `branches` parts, these again, down to single values; every interval is counted
with noise, and least squares makes the counts agree, so that a range is answered by few of them. Cost: the values.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.exact import Exact
from incrowd.common.parameters import require_whole
from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.dp.accountant import Accountant
from incrowd.dp.boxes.consistency import Generations, least_squares, published_counts
from incrowd.dp.boxes.interval_tree import interval_tree
from incrowd.dp.boxes.noisy_tree import NoisyTree
from incrowd.dp.budget import Budget
from incrowd.dp.discrete_laplace import noise_scale, noisy_counts, variance
from incrowd.errors import SchemaError
from incrowd.hierarchies.public import Undeclared
from incrowd.methods.private import (
    PrivateMethod,
    PublicTable,
    as_written,
    column_names,
    require_most_rows,
    require_undeclared,
)


@dataclass(frozen=True)
class HierarchicalHistogram(PrivateMethod):
    """Noisy counts of one column of numbers that agree on all intervals, under ε-differential privacy.

    Parameters
    ----------
    epsilon : the ε to spend: a number, or text such as "1/3", which is read exactly.
    branches : into how many smaller intervals each interval is cut; at least 2 (default: 4).
    missing : columns that may have missing values (default: none).
    undeclared : "refuse" or "missing": what happens to values that were not declared, as in `DiffGen` (default:
        "missing").
    most_rows : how many rows of each person are counted at most, chosen at random; given where the schema has a person
        column and only then. ε is then promised per person.

    With sensitive columns, each class of their values is counted by itself.

    >>> import incrowd as ic
    >>> known = {"age": ic.Intervals(widths=(1,), lower=15, upper=90)}
    >>> table = ic.read(ic.datasets.census(1000), quasi=["age"], hierarchies=known, others="drop")
    >>> release = ic.publish(table, method=HierarchicalHistogram(1))
    >>> print(release.guarantees[0].model)
    differential privacy (ε = 1)

    Reference: Hay, Rastogi, Miklau & Suciu (2010).
    """

    epsilon: Exact
    branches: int = 4
    missing: tuple[str, ...] = ()
    undeclared: Undeclared = "missing"
    most_rows: int | None = None
    name: ClassVar[str] = "hierarchical-histogram"
    private: ClassVar[bool] = True

    def __post_init__(self) -> None:
        Budget(self.epsilon)
        object.__setattr__(self, "epsilon", as_written(self.epsilon))
        object.__setattr__(self, "missing", column_names(self.name, self.missing))
        require_undeclared(self.name, self.undeclared)
        require_most_rows(self.name, self.most_rows)
        require_whole(self.name, "branches", self.branches, at_least=2)

    @property
    def budget(self) -> Budget:
        """All that it may spend, of each row or person."""
        return Budget(self.epsilon)

    def measure(
        self, table: PublicTable, *, rng: np.random.Generator, progress: Progress, accountant: Accountant
    ) -> tuple[NoisyTree, NDArray[np.int64]]:
        """Count and adjust; return the intervals and what is published of the smallest."""
        if len(table.trees) != 1 or not table.trees[0].ordered:
            raise SchemaError(
                f"{self.name} needs exactly one quasi-identifier, a column of numbers.  "
                "Hint: drop the others, or use consistent-diffgen or flat-histogram."
            )
        parents, runs = interval_tree(table.trees[0].size, self.branches, missing=table.missing[0])
        progress("counting", 0.0)
        accountant.spend("counts of all intervals", self.budget)
        # Everybody is in one interval of each generation.
        share = self.budget.epsilon / (int(Generations.of(parents).depth.max()) + 1)
        values = table.people.count_values(0, table.trees[0].size)
        before = np.concatenate([np.zeros((1, values.shape[1]), dtype=np.int64), np.cumsum(values, axis=0)])
        noisy = noisy_counts(rng, before[runs[:, 1]] - before[runs[:, 0]], epsilon=share)
        spread = np.full(len(parents), variance(noise_scale(Fraction(1), share)))
        agreed = least_squares(parents, noisy.astype(np.float64), spread)
        tree = NoisyTree(parents, runs[:, :1].astype(np.int32), runs[:, 1:].astype(np.int32), noisy, spread, agreed)
        progress("counting", 1.0)
        return tree, published_counts(tree)[tree.leaves]

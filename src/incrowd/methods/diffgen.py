"""DiffGen (Mohammed, Chen, Fung & Yu 2011) and Consistent DiffGen (Qian, Song & Liang): tables with noisy counts.

From everything generalized to `*`, the exponential mechanism chooses what to make more specific, step by step; then
the boxes are counted with noise. DiffGen counts the last boxes only, also the many where nobody is. Consistent DiffGen
counts larger boxes too, makes the counts agree, and leaves empty branches empty. Cost: steps × distinct tuples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from incrowd.common.exact import Exact, as_exact
from incrowd.common.parameters import require_number, require_whole
from incrowd.common.progress import Progress
from incrowd.common.renaming import renamed
from incrowd.dp.accountant import Accountant
from incrowd.dp.boxes.coded_rows import People
from incrowd.dp.boxes.consistency import algorithm_2, least_squares, published_counts
from incrowd.dp.boxes.level_tree import grow_by_levels
from incrowd.dp.boxes.noisy_tree import NoisyTree, grow_tree, leaf_counts
from incrowd.dp.boxes.specializing import Specializer
from incrowd.dp.boxes.utilities import UTILITIES, Utility
from incrowd.dp.budget import Budget
from incrowd.errors import RecipeError
from incrowd.hierarchies.public import Undeclared
from incrowd.hierarchies.tree import MISSING
from incrowd.methods.private import (
    PrivateMethod,
    PublicTable,
    as_written,
    column_names,
    require_most_rows,
    require_steps,
    require_undeclared,
)

Adjustment = Literal["least-squares", "algorithm-2"]
Counted = tuple[NoisyTree, NDArray[np.int64]]


@renamed(structure="structure_share")
@dataclass(frozen=True)
class DiffGen(PrivateMethod):
    """Noisy counts of the boxes that `steps` specializations make, under ε-differential privacy.

    Parameters
    ----------
    epsilon : the ε to spend: a number, or text such as "1/3", which is read exactly.
    steps : how many specializations are made (default: 10).
    utility : what a specialization is chosen for (default: "max", or "width" without sensitive columns). "max" and
        "infogain" are the paper's, about the sensitive columns as classes; "gini" looks at all columns together;
        "width" needs no classes.
    structure_share : the share of ε that the choices get, above 0 and below 1 (default: "1/2"). The counts get the
        rest.
    missing : columns that may have missing values (default: none).
    undeclared : "refuse" or "missing": what happens to values that were not declared (default: "refuse").
    most_rows : how many rows of each person are counted at most, chosen at random; given where the schema has a person
        column and only then. ε is then promised per person.

    With `undeclared="refuse"`, these are refused: missing values in columns that `missing` does not name, values that
    no hierarchy declares, and a table without rows. With `undeclared="missing"`, undeclared values count as missing,
    rows with missing values in other columns are left out, and the table may be empty: no refusal tells who is in it.

    >>> import incrowd as ic
    >>> known = {"age": ic.Intervals(widths=(5,), lower=15, upper=90)}
    >>> table = ic.read(ic.datasets.census(1000), quasi=["age"], hierarchies=known, others="drop")
    >>> release = ic.publish(table, method=ic.DiffGen(1, steps=2))
    >>> print(release.guarantees[0].model)
    differential privacy (ε = 1)

    Reference: Mohammed, Chen, Fung & Yu (2011).
    """

    epsilon: Exact
    steps: int = 10
    utility: Utility | None = None
    structure_share: Exact = "1/2"
    missing: tuple[str, ...] = ()
    undeclared: Undeclared = "refuse"
    most_rows: int | None = None
    name: ClassVar[str] = "diffgen"
    private: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check(self)

    @property
    def budget(self) -> Budget:
        """All that it may spend, of each row or person."""
        return Budget(self.epsilon)

    def measure(
        self, table: PublicTable, *, rng: np.random.Generator, progress: Progress, accountant: Accountant
    ) -> Counted:
        """Choose and count; return the boxes and what is published of each, noise below 0 being no count."""
        specializer, budget = _specialize(self, table, rng, progress, accountant)
        accountant.spend("counts of all boxes", budget)
        tree = leaf_counts(table.people, specializer.cuts, epsilon=budget.epsilon, rng=rng)
        return tree, np.maximum(tree.noisy, 0)


@renamed(structure="structure_share")
@dataclass(frozen=True)
class ConsistentDiffGen(PrivateMethod):
    """As DiffGen, with boxes of all sizes counted, and counts that agree, are whole, and are never negative.

    Parameters
    ----------
    epsilon : the ε to spend: a number, or text such as "1/3", which is read exactly.
    steps : how many specializations are made (default: 16).
    utility : what a specialization is chosen for, as in `DiffGen` (default: "gini", or "width" without sensitive
        columns).
    structure_share : the share of ε that the choices get, above 0 and below 1 (default: "1/4"). The counts get the
        rest.
    adjust : "least-squares" or "algorithm-2": how counts are made to agree (default: "least-squares").
    fanout : boxes are counted whenever there are this many times as many as before; at least 2 (default: 16).
    patience : nothing more is counted below a box whose count is less than this many standard deviations of the noise
        (default: 1).
    missing : columns that may have missing values (default: none).
    undeclared : "refuse" or "missing": what happens to values that were not declared, as in `DiffGen` (default:
        "refuse").
    most_rows : how many rows of each person are counted at most, chosen at random; given where the schema has a person
        column and only then. ε is then promised per person.

    With "least-squares", smaller boxes get more of ε, and counts agree by exact least squares on the actual tree. With
    "algorithm-2", all is as in the paper: every box of the tree is counted with an equal share of ε, and its Algorithm
    2 makes counts agree.

    Reference: Qian, Song & Liang.
    """

    epsilon: Exact
    steps: int = 16
    utility: Utility | None = None
    structure_share: Exact = "1/4"
    adjust: Adjustment = "least-squares"
    fanout: int = 16
    patience: float = 1.0
    missing: tuple[str, ...] = ()
    undeclared: Undeclared = "refuse"
    most_rows: int | None = None
    name: ClassVar[str] = "consistent-diffgen"
    private: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check(self)
        require_number(self.name, "patience", self.patience, at_least=0)
        require_whole(self.name, "fanout", self.fanout, at_least=2)
        if self.adjust not in ("least-squares", "algorithm-2"):
            raise RecipeError(f'{self.name}: adjust is "least-squares" or "algorithm-2", not {self.adjust!r}.')

    @property
    def budget(self) -> Budget:
        """All that it may spend, of each row or person."""
        return Budget(self.epsilon)

    def measure(
        self, table: PublicTable, *, rng: np.random.Generator, progress: Progress, accountant: Accountant
    ) -> Counted:
        """Choose, count and adjust; return the boxes and what is published of each leaf."""
        specializer, budget = _specialize(self, table, rng, progress, accountant)
        accountant.spend("counts of all boxes of the tree", budget)
        roots = [
            (MISSING if allowed else 1, tree.size) for tree, allowed in zip(table.trees, table.missing, strict=True)
        ]
        if self.adjust == "least-squares":
            tree = grow_by_levels(
                table.people,
                roots,
                specializer.steps,
                epsilon=budget.epsilon,
                fanout=self.fanout,
                patience=self.patience,
                rng=rng,
            )
            agreed = least_squares(tree.parents, tree.noisy.astype(np.float64), tree.variances)
        else:
            tree = grow_tree(
                table.people,
                roots,
                specializer.steps,
                specializer.cuts,
                epsilon=budget.epsilon,
                patience=self.patience,
                rng=rng,
            )
            agreed = algorithm_2(tree.parents, tree.noisy.astype(np.float64))
        tree = replace(tree, agreed=agreed)
        return tree, published_counts(tree)[tree.leaves]


def _check(method: DiffGen | ConsistentDiffGen) -> None:
    """Refuse parameters that make no sense, and keep the rest as a file can hold it."""
    name, share = method.name, as_exact(method.structure_share, "structure_share")
    Budget(method.epsilon)
    require_steps(name, method.steps)
    if method.utility is not None and method.utility not in UTILITIES:
        raise RecipeError(f'{name}: utility is "max", "infogain", "gini" or "width", not {method.utility!r}.')
    if not 0 < share < 1:
        raise RecipeError(
            f"{name}: structure_share is a share of ε, above 0 and below 1, not {method.structure_share}."
        )
    object.__setattr__(method, "epsilon", as_written(method.epsilon))
    object.__setattr__(method, "structure_share", as_written(method.structure_share))
    object.__setattr__(method, "missing", column_names(name, method.missing))
    require_undeclared(name, method.undeclared)
    require_most_rows(name, method.most_rows)


def _specialize(
    method: DiffGen | ConsistentDiffGen,
    table: PublicTable,
    rng: np.random.Generator,
    progress: Progress,
    accountant: Accountant,
) -> tuple[Specializer, Budget]:
    """Spend the structure's share of the budget; return what was chosen, and what is left for counting."""
    utility = method.utility or _default_utility(method, table.people)
    if utility != "width" and table.people.class_count < 2:
        raise RecipeError(f'{method.name}: "{utility}" needs a sensitive column as the class, and there is none.')
    specializer = Specializer(table.people, table.trees, table.missing, utility, rng, accountant)
    specializer.run(method.steps, method.budget * as_exact(method.structure_share, "structure_share"), progress)
    # What the choices did not need, where there were fewer than they might have been, goes into the counts.
    return specializer, method.budget.less(specializer.spent)


def _default_utility(method: DiffGen | ConsistentDiffGen, people: People) -> Utility:
    if people.class_count < 2:
        return "width"
    return "max" if isinstance(method, DiffGen) else "gini"

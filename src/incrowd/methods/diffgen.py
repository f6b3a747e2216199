"""DiffGen (Mohammed, Chen, Fung & Yu 2011) and Consistent DiffGen (Qian, Song & Liang): tables with noisy counts.

From everything generalized to `*`, the exponential mechanism chooses what to make more specific, step by step; then
the boxes are counted with noise. DiffGen counts the last boxes only, also the many where nobody is. Consistent DiffGen
counts larger boxes too, makes the counts agree, and leaves empty branches empty; single columns and pairs of columns
are counted beside them, so that counts of parts of boxes are not guessed. Cost: steps × distinct tuples.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from incrowd.common.exact import Exact, as_exact
from incrowd.common.parameters import require_number, require_whole
from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.common.renaming import renamed
from incrowd.dp.accountant import Accountant
from incrowd.dp.boxes.coded_rows import People
from incrowd.dp.boxes.consistency import algorithm_2, least_squares, published_counts, rows_of_boxes
from incrowd.dp.boxes.level_tree import grow_by_levels
from incrowd.dp.boxes.margins import Margins, Pair, count_pairs, count_singles, wide_cells
from incrowd.dp.boxes.noisy_tree import NoisyTree, grow_tree, leaf_counts
from incrowd.dp.boxes.specializing import Specializer
from incrowd.dp.boxes.spreading import Spreading
from incrowd.dp.boxes.utilities import UTILITIES, Utility
from incrowd.dp.budget import Budget
from incrowd.dp.discrete_laplace import noise_scale
from incrowd.errors import RecipeError
from incrowd.hierarchies.public import Undeclared
from incrowd.hierarchies.tree import MISSING
from incrowd.methods.leaf_adjustment import LeafAdjustment, require_adjustment, shown_counts
from incrowd.methods.private import (
    PrivateMethod,
    PublicTable,
    as_written,
    column_names,
    require_error_share,
    require_most_rows,
    require_steps,
    require_undeclared,
)

_MARGINS = Fraction(13, 20)
"""The share of ε for single columns and pairs."""
_MARGIN_WEIGHTS = (9, 2, 13)
"""How it is divided: single columns, choices of pairs, counts of these. Chosen on Adult."""
_PAIRS_PER_COLUMN = 2
"""So many pairs are counted for each quasi-identifier: noise in a pair matters less than a pair that nobody counted."""
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
    undeclared : "refuse" or "missing": what happens to values that were not declared (default: "missing").
    adjust : "total" or "as-printed" (default: "total"): published counts add up to what was counted of everybody, or
        noise below 0 is no count, which leaves too many rows, as in the paper. Questions are answered alike.
    error_share : the share of ε that tells how wrong counts are which ask for a part of a box, at least 0 and below 1
        (default: "1/20").
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
    undeclared: Undeclared = "missing"
    most_rows: int | None = None
    adjust: LeafAdjustment = "total"
    error_share: Exact = "1/20"
    name: ClassVar[str] = "diffgen"
    private: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check(self)
        require_adjustment(self.name, self.adjust)

    @property
    def budget(self) -> Budget:
        """All that it may spend, of each row or person."""
        return Budget(self.epsilon)

    def measure(
        self, table: PublicTable, *, rng: np.random.Generator, progress: Progress, accountant: Accountant
    ) -> Counted:
        """Choose and count; return the boxes and what is published of each."""
        specializer, budget = _specialize(self, table, self.budget, rng, progress, accountant)
        accountant.spend("counts of all boxes", budget)
        tree = leaf_counts(table.people, specializer.cuts, epsilon=budget.epsilon, rng=rng)
        return tree, shown_counts(tree.noisy, self.adjust)


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
    structure_share : the share that choices get of what `margins_share` leaves, above 0 and below 1 (default: "1/4").
        The counts of boxes get the rest.
    margins_share : the share of ε that goes into counts of single columns and of pairs of columns, which tell how rows
        are spread inside of boxes; at least 0 and below 1 (default: "13/20", or 0 with "algorithm-2").
    adjust : "least-squares" or "algorithm-2": how counts are made to agree (default: "least-squares").
    fanout : boxes are counted whenever there are this many times as many as before; at least 2 (default: 16).
    patience : nothing more is counted below a box whose count is less than this many standard deviations of the noise
        (default: 1).
    missing : columns that may have missing values (default: none).
    undeclared : "refuse" or "missing": what happens to values that were not declared, as in `DiffGen` (default:
        "missing").
    error_share : the share of ε that tells how wrong counts are which ask for a part of a box, at least 0 and below 1
        (default: "1/20").
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
    undeclared: Undeclared = "missing"
    most_rows: int | None = None
    margins_share: Exact | None = None
    error_share: Exact = "1/20"
    name: ClassVar[str] = "consistent-diffgen"
    private: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check(self)
        require_number(self.name, "patience", self.patience, at_least=0)
        require_whole(self.name, "fanout", self.fanout, at_least=2)
        if self.adjust not in ("least-squares", "algorithm-2"):
            raise RecipeError(f'{self.name}: adjust is "least-squares" or "algorithm-2", not {self.adjust!r}.')
        if self.margins_share is not None:
            object.__setattr__(self, "margins_share", as_written(self.margins_share))
            if not 0 <= self._margins < 1:
                raise RecipeError(
                    f"{self.name}: margins_share is a share of ε, at least 0 and below 1, not {self.margins_share}."
                )

    @property
    def budget(self) -> Budget:
        """All that it may spend, of each row or person."""
        return Budget(self.epsilon)

    @property
    def _margins(self) -> Fraction:
        """The share of ε for single columns and pairs."""
        if self.margins_share is None:
            return _MARGINS if self.adjust == "least-squares" else Fraction(0)
        return as_exact(self.margins_share, "margins_share")

    def measure(
        self, table: PublicTable, *, rng: np.random.Generator, progress: Progress, accountant: Accountant
    ) -> Counted:
        """Choose, count and adjust; return the boxes and what is published of each leaf."""
        tree = self._count_boxes(table, self.budget * (1 - self._margins), rng, progress, accountant)
        if not self._margins:
            return tree, published_counts(tree)[tree.leaves]
        return _count_margins(table, tree, self.budget * self._margins, rng, accountant)

    def _count_boxes(
        self,
        table: PublicTable,
        boxes: Budget,
        rng: np.random.Generator,
        progress: Progress,
        accountant: Accountant,
    ) -> NoisyTree:
        specializer, budget = _specialize(self, table, boxes, rng, progress, accountant)
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
        return replace(tree, agreed=agreed)


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
    object.__setattr__(method, "error_share", require_error_share(name, method.error_share))
    object.__setattr__(method, "missing", column_names(name, method.missing))
    require_undeclared(name, method.undeclared)
    require_most_rows(name, method.most_rows)


def _specialize(
    method: DiffGen | ConsistentDiffGen,
    table: PublicTable,
    budget: Budget,
    rng: np.random.Generator,
    progress: Progress,
    accountant: Accountant,
) -> tuple[Specializer, Budget]:
    """Spend the structure's share of a budget; return what was chosen, and what is left for counting."""
    utility = method.utility or _default_utility(method, table.people)
    if utility != "width" and table.people.class_count < 2:
        raise RecipeError(f'{method.name}: "{utility}" needs a sensitive column as the class, and there is none.')
    specializer = Specializer(table.people, table.trees, table.missing, utility, rng, accountant)
    specializer.run(method.steps, budget * as_exact(method.structure_share, "structure_share"), progress)
    # What the choices did not need, where there were fewer than they might have been, goes into the counts.
    return specializer, budget.less(specializer.spent)


def _count_margins(
    table: PublicTable, tree: NoisyTree, budget: Budget, rng: np.random.Generator, accountant: Accountant
) -> Counted:
    """Count single columns and pairs; return the boxes with these, and counts of the leaves that agree with them."""
    people, names = table.people, (*table.columns, "class")
    sizes = [column.size for column in table.trees]
    starts = [MISSING if allowed else 1 for allowed in table.missing]
    pairs = _PAIRS_PER_COLUMN * len(sizes) if people.class_count > 1 or len(sizes) > 1 else 0
    alone, choices, together = budget.split(_MARGIN_WEIGHTS) if pairs else (budget, budget, budget)
    singles = count_singles(people, sizes, table.columns, budget=alone, rng=rng, accountant=accountant)
    rows = rows_of_boxes(tree)
    spreading = Spreading.of(tree, starts, singles, rows)
    counted: tuple[Pair, ...] = ()
    if pairs:
        noise = float(noise_scale(Fraction(1), (together / pairs).epsilon))
        cells = [wide_cells(known, spreading.total, noise) for known in spreading.singles]
        counted = count_pairs(
            people,
            [*cells, np.arange(people.class_count)],
            spreading.all_expected([*cells, np.arange(people.class_count)]),
            names,
            pairs,
            choices=choices,
            counts=together,
            rng=rng,
            accountant=accountant,
        )
    margins = Margins(singles, counted)
    return replace(tree, margins=margins), Spreading.of_margins(tree, starts, margins, rows).published()


def _default_utility(method: DiffGen | ConsistentDiffGen, people: People) -> Utility:
    if people.class_count < 2:
        return "width"
    return "max" if isinstance(method, DiffGen) else "gini"

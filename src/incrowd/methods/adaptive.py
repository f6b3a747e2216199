"""Synthetic rows from noisy counts that are chosen one after the other, by what the rows so far get most wrong.

Every single column is counted with noise, and by class where there are few classes. A model of maximum entropy has
these counts. Then, round after round, the columns whose joint counts the model gets most wrong are chosen by a private
choice, counted, and taken into the model, until ε is spent. This is AIM (McKenna, Mullins, Sheldon & Miklau 2022) with
other shares of the budget, wider cells where the noise is large, and faster estimation (`dp/synthesis/`). With few rows
or a small ε, single columns get everything.
Cost: for each round, passes over the cells of the model; and one pass over the distinct tuples for each set of columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Ints, one_by_one
from incrowd.common.exact import Exact
from incrowd.common.parameters import require_whole
from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.dp.accountant import Accountant
from incrowd.dp.boxes.box_cuts import Cut
from incrowd.dp.boxes.made_rows import as_boxes, cells_of
from incrowd.dp.boxes.noisy_tree import NoisyTree
from incrowd.dp.budget import Budget
from incrowd.dp.group_privacy import share_of_row
from incrowd.dp.marginals.told_variance import ColumnNoise
from incrowd.dp.synthesis.columns import Cells
from incrowd.dp.synthesis.paying import PayInEpsilon, PayInRho, Payment
from incrowd.dp.synthesis.rounds import Plan, Synthesis
from incrowd.hierarchies.public import Undeclared
from incrowd.hierarchies.tree import MISSING
from incrowd.methods.fixed_levels import cuts_at_levels, require_levels
from incrowd.methods.private import (
    PrivateMethod,
    PublicTable,
    as_written,
    column_names,
    require_error_share,
    require_most_rows,
    require_undeclared,
)

_DEPENDENCE = 0.2
"""What chosen sets leave unknown, in releases of Adult and Massachusetts (`forms/model_errors.py`)."""


@dataclass(frozen=True)
class AdaptiveSynthesis(PrivateMethod):
    """Synthetic rows from the counts that tell most about the table, under (ε, δ)- or ε-differential privacy.

    Parameters
    ----------
    epsilon : the ε to spend: a number, or text such as "1/3", which is read exactly.
    delta : the δ to spend (default: 0). Above 0, noise is the discrete Gaussian's, and prices add up as in
        zero-concentrated privacy: with many columns the rows are nearer to the table. Keep it far below one divided by
        the number of rows.
    class_weight : how much more the sensitive columns count, where columns are chosen that are counted together
        (default: 1, as much as all others). 2 or 3 is better for classifiers, and worse for other questions.
    most_choices : how many sets of columns are counted together at most (default: as many as ε allows). 0 counts single
        columns alone, each for each class.
    levels : the level of each column's hierarchy that is counted (default: the values themselves).
    missing : columns that may have missing values (default: none).
    undeclared : "refuse" or "missing": what happens to values that were not declared, as in `DiffGen` (default:
        "missing").
    error_share : the share of ε that tells how wrong counts are, at least 0 and below 1 (default: "1/20").
    most_rows : how many rows of each person are counted at most, chosen at random; given where the schema has a person
        column and only then. ε and δ are then promised per person.

    Values are those that the hierarchies declare, or the nodes of a column's level. Rows come from a model: columns
    that were not counted together are as independent in it as the counts allow. The number of rows is noisy.

    >>> import incrowd as ic
    >>> sexes, ages = ic.Categories.from_tree(["Female", "Male"]), ic.Intervals(widths=(5,), lower=15, upper=90)
    >>> known = {"age": ages, "sex": sexes}
    >>> table = ic.read(ic.datasets.census(1000), quasi=["age", "sex"], hierarchies=known, others="drop")
    >>> release = ic.publish(table, method=AdaptiveSynthesis(1, delta="1e-9"))
    >>> print(release.guarantees[0].model)
    differential privacy (ε = 1, δ = 1e-09)

    Reference: McKenna, Mullins, Sheldon & Miklau (2022); Canonne, Kamath & Steinke (2020) for noise and prices.
    """

    epsilon: Exact
    delta: Exact = 0
    class_weight: int = 1
    most_choices: int | None = None
    levels: Mapping[str, int] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    undeclared: Undeclared = "missing"
    most_rows: int | None = None
    error_share: Exact = "1/20"
    name: ClassVar[str] = "adaptive"
    private: ClassVar[bool] = True

    def __post_init__(self) -> None:
        Budget(self.epsilon, self.delta)
        object.__setattr__(self, "epsilon", as_written(self.epsilon))
        object.__setattr__(self, "delta", as_written(self.delta))
        object.__setattr__(self, "missing", column_names(self.name, self.missing))
        require_whole(self.name, "class_weight", self.class_weight, at_least=1, at_most=100)
        if self.most_choices is not None:
            require_whole(self.name, "most_choices", self.most_choices, at_least=0)
        require_undeclared(self.name, self.undeclared)
        require_most_rows(self.name, self.most_rows)
        require_levels(self.name, self.levels)
        object.__setattr__(self, "error_share", require_error_share(self.name, self.error_share))

    @property
    def budget(self) -> Budget:
        """All that it may spend, of each row or person."""
        return Budget(self.epsilon, self.delta)

    @property
    def for_rows(self) -> AdaptiveSynthesis:
        """The method that may spend of each row what is left for it if a person has `most_rows` of them."""
        if self.most_rows is None:
            return self
        share = share_of_row(self.budget, self.most_rows)
        return replace(self, epsilon=str(share.epsilon), delta=str(share.delta), most_rows=None)

    def prices_people(self, rate: Fraction) -> bool:
        """In ρ, m rows cost m² times as much, which is less than ε and δ of m rows come to; a sample has no ρ."""
        return self.most_rows is None or (rate == 1 and self.budget.delta > 0)

    def measure(
        self, table: PublicTable, *, rng: np.random.Generator, progress: Progress, accountant: Accountant
    ) -> tuple[NoisyTree, NDArray[np.int64]]:
        """Count, choose, count again, and make rows; return the combinations that there are rows of."""
        cuts = cuts_at_levels(table, self.levels)
        people = table.people
        columns = [
            Cells(name, cells_of(cut, codes), len(cut.runs), _ordered_from(cut))
            for name, cut, codes in zip(table.columns, cuts, one_by_one(people.codes), strict=True)
        ]
        with_class = people.class_count > 1
        if with_class:
            columns.append(Cells("class", people.classes, people.class_count))
        plan = Plan(class_weight=self.class_weight, most_choices=self.most_choices)

        def run(payment: Payment) -> tuple[list[Ints], list[ColumnNoise], float]:
            return Synthesis(columns, people.counts, payment, rng, progress, plan, with_class=with_class).run()

        if self.budget.delta:
            with accountant.concentrated(self.budget, self.most_rows or 1) as purse:
                made, noise, of_all = run(PayInRho(purse, rng, accountant))
        else:
            made, noise, of_all = run(PayInEpsilon(self.budget, rng, accountant))
        classes = made.pop() if with_class else np.zeros(len(made[0]), dtype=np.int64)
        known = noise if with_class else [*noise, noise[0]]
        return as_boxes(made, classes, cuts, people.class_count, known, of_all, _DEPENDENCE)


def _ordered_from(cut: Cut) -> int | None:
    """Return the first of an ordered column's cells that neighbours are like; a missing value is like nothing."""
    return int(cut.runs[0][0] == MISSING) if cut.tree.ordered else None

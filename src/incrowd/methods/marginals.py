"""Synthetic rows from noisy counts of pairs of columns: MST (McKenna, Miklau & Sheldon 2021) under pure ε.

Every single column is counted with noise; then, choice by choice, the pairs of columns that depend on each other most,
until they join all columns to a tree; these pairs are counted, all counts are made to agree, and rows are made that
have them. Because the pairs form a tree, the graphical model has a closed form, and no library is needed for it.
Columns that are not joined directly depend on each other through those between them only.
Cost: columns² / 2 passes over the distinct tuples, and making the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Floats, Ints
from incrowd.common.exact import Exact
from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.dp.accountant import Accountant
from incrowd.dp.boxes.made_rows import as_boxes, cells_of, require_rows
from incrowd.dp.boxes.noisy_tree import NoisyTree, require_room
from incrowd.dp.budget import Budget
from incrowd.dp.discrete_laplace import noise_scale, noisy_counts, variance
from incrowd.dp.marginals.agreement import Agreement, Marginals
from incrowd.dp.marginals.cells import Column, WideCells, not_negative, share_out, total_rows
from incrowd.dp.marginals.generating import generate
from incrowd.dp.marginals.spanning import Pair, choose_tree, pair_counts
from incrowd.dp.marginals.told_variance import ColumnNoise, WideNoise, told_noise
from incrowd.errors import RecipeError
from incrowd.hierarchies.public import Undeclared
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

_SINGLES, _CHOICES = Fraction(1, 3), Fraction(1, 3)
_DEPENDENCE = 0.5
"""What pairs of a tree leave unknown, in releases of Adult and Massachusetts (`forms/model_errors.py`)."""
"""Shares of ε for single columns and for choosing pairs; the rest is for counting these. Thirds, as in MST."""
_PEOPLE_PER_NOISE = 4
"""A cell of a pair should hold so many times the scale of its noise, on average."""


@dataclass(frozen=True)
class MarginalSynthesis(PrivateMethod):
    """Synthetic rows that have the noisy counts of single columns and of a tree of pairs, under ε-differential privacy.

    Parameters
    ----------
    epsilon : the ε to spend: a number, or text such as "1/3", which is read exactly.
    by_class : whether everything is counted for each class of the sensitive columns, so that a classifier finds what it
        needs (default: True). False makes them one column more, as in MST itself.
    levels : the level of each column's hierarchy that is counted (default: the values themselves).
    missing : columns that may have missing values (default: none).
    undeclared : "refuse" or "missing": what happens to values that were not declared, as in `DiffGen` (default:
        "missing").
    error_share : the share of ε that tells how wrong counts are, at least 0 and below 1
        (default: "1/20").
    most_rows : how many rows of each person are counted at most, chosen at random; given where the schema has a person
        column and only then. ε is then promised per person.

    Values are those that the hierarchies declare, or the nodes of a column's level. Numbers are counted one by one
    between their bounds, or by their finest intervals. If ε is too small for the combinations of a pair, it is counted
    by wider cells, and rows then get values by the single column's counts.

    >>> import incrowd as ic
    >>> sexes, ages = ic.Categories.from_tree(["Female", "Male"]), ic.Intervals(widths=(5,), lower=15, upper=90)
    >>> known = {"age": ages, "sex": sexes}
    >>> table = ic.read(ic.datasets.census(1000), quasi=["age", "sex"], hierarchies=known, others="drop")
    >>> release = ic.publish(table, method=MarginalSynthesis(1))
    >>> print(release.guarantees[0].model)
    differential privacy (ε = 1)

    Reference: McKenna, Miklau & Sheldon (2021), under pure ε.
    """

    epsilon: Exact
    by_class: bool = True
    levels: Mapping[str, int] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    undeclared: Undeclared = "missing"
    most_rows: int | None = None
    error_share: Exact = "1/20"
    name: ClassVar[str] = "marginals"
    private: ClassVar[bool] = True

    def __post_init__(self) -> None:
        Budget(self.epsilon)
        object.__setattr__(self, "epsilon", as_written(self.epsilon))
        object.__setattr__(self, "missing", column_names(self.name, self.missing))
        require_undeclared(self.name, self.undeclared)
        require_most_rows(self.name, self.most_rows)
        if not isinstance(self.by_class, bool):
            raise RecipeError(f"{self.name}: by_class is true or false, not {self.by_class!r}.")
        require_levels(self.name, self.levels)
        object.__setattr__(self, "error_share", require_error_share(self.name, self.error_share))

    @property
    def budget(self) -> Budget:
        """All that it may spend, of each row or person."""
        return Budget(self.epsilon)

    def measure(
        self, table: PublicTable, *, rng: np.random.Generator, progress: Progress, accountant: Accountant
    ) -> tuple[NoisyTree, NDArray[np.int64]]:
        """Count, choose, count again, and make rows; return the combinations that there are rows of."""
        cuts = cuts_at_levels(table, self.levels)
        people = table.people
        names, sizes = list(table.columns), [len(cut.runs) for cut in cuts]
        cell_of = [cells_of(cut, people.codes[:, place]) for place, cut in enumerate(cuts)]
        classes, class_count = people.classes, people.class_count
        if not self.by_class and class_count > 1:
            names, sizes, cell_of = [*names, "class"], [*sizes, class_count], [*cell_of, classes]
            classes, class_count = np.zeros_like(classes), 1
        run = _Run(self.budget, names, classes, class_count, people.counts, rng, progress, accountant)
        singles = run.count_singles(cell_of, sizes)
        counted = run.count_pairs(singles)
        progress("making rows", 0.0)
        require_rows(float(counted.rows.sum()))
        made, made_classes = generate(counted.wide, counted.tree, counted.agreed, counted.rows, rng)
        progress("making rows", 1.0)
        noise = [
            told_noise(
                one.noisy,
                np.bincount(made[place], minlength=sizes[place]),
                one.variance * class_count,
                counted.wide_noise(place),
                ordered=place < len(cuts) and cuts[place].tree.ordered,
            )
            for place, one in enumerate(singles)
        ]
        of_class = noise.pop() if len(made) > len(cuts) else _noise_of_class(singles)
        if len(made) > len(cuts):
            made, made_classes = made[:-1], made[-1]
        known = (*noise, of_class)
        return as_boxes(
            made,
            made_classes,
            cuts,
            people.class_count,
            known,
            counted.rows_noise,
            _DEPENDENCE,
            by_class=class_count > 1,
        )


def _noise_of_class(singles: Sequence[Column]) -> ColumnNoise:
    """Return the variance of a class's rows: every column tells them."""
    return ColumnNoise(1 / sum(1 / max(one.variance * len(one.noisy), 1e-9) for one in singles))


@dataclass(frozen=True, eq=False)
class _Counted:
    """What was counted of single columns and pairs, and how it agrees: by least squares, and with no negative count."""

    wide: list[WideCells]
    tree: list[Pair]
    agreement: Agreement
    best: Marginals
    agreed: Marginals
    rows: Floats
    """How many rows of each class there are."""

    def wide_noise(self, place: int) -> WideNoise:
        """Return what is best known of a column's wide cells, of all classes together."""
        variances = self.agreement.wide_variances(place) * len(self.rows)
        return WideNoise(self.wide[place].wide_of, variances, self.best.singles[place])

    @property
    def rows_noise(self) -> float:
        """The variance of all rows."""
        return self.agreement.total_variance * len(self.rows)


@dataclass(frozen=True, eq=False)
class _Run:
    """What all counts of one run have in common."""

    budget: Budget
    names: Sequence[str]
    classes: Ints
    class_count: int
    counts: Ints
    rng: np.random.Generator
    progress: Progress
    accountant: Accountant

    @property
    def singles_share(self) -> Fraction:
        """The share of ε for single columns: all of it where there is one only, for then there are no pairs."""
        return _SINGLES if len(self.names) > 1 else Fraction(1)

    def count_singles(self, cell_of: Sequence[Ints], sizes: Sequence[int]) -> list[Column]:
        """Count every column by itself."""
        price = self.budget * self.singles_share / len(self.names)
        spread = variance(noise_scale(Fraction(1), price.epsilon))
        found = []
        for number, (name, cells, size) in enumerate(zip(self.names, cell_of, sizes, strict=True)):
            self.progress("counting", 0.3 * number / len(self.names))
            require_room(size * self.class_count)
            self.accountant.spend(f"counts of {name}", price)
            key = cells * self.class_count + self.classes
            true = np.bincount(key, weights=self.counts, minlength=size * self.class_count).astype(np.int64)
            noisy = noisy_counts(self.rng, true.reshape(size, self.class_count), epsilon=price.epsilon)
            found.append(Column(name, cells, noisy, spread))
        return found

    def count_pairs(self, singles: list[Column]) -> _Counted:
        """Choose pairs and count them; return all counts as they agree."""
        rows = not_negative(total_rows(singles))
        if len(singles) == 1:
            alone = WideCells(singles[0], np.arange(len(singles[0].noisy)))
            agreement = Agreement([], [alone.variances], 0.0)
            best, agreed = Marginals([alone.noisy], []), Marginals([share_out(alone.noisy, rows)], [])
            return _Counted([alone], [], agreement, best, agreed, rows)
        choices = self.budget * _CHOICES
        price = self.budget * (1 - _SINGLES - _CHOICES) / (len(singles) - 1)
        scale = noise_scale(Fraction(1), price.epsilon)
        cells = rows.sum() / (_PEOPLE_PER_NOISE * float(scale) * self.class_count)
        wide = [WideCells.of(column, rows, max(float(np.sqrt(cells)), 2.0)) for column in singles]
        tree = choose_tree(
            wide,
            self.classes,
            self.counts,
            rows,
            budget=choices,
            noise=scale,
            rng=self.rng,
            accountant=self.accountant,
        )
        pairs = []
        for number, (first, second) in enumerate(tree):
            self.progress("counting", 0.3 + 0.7 * number / len(tree))
            self.accountant.spend(f"counts of {singles[first].name} and {singles[second].name}", price)
            true = pair_counts(wide[first], wide[second], self.classes, self.class_count, self.counts)
            pairs.append(noisy_counts(self.rng, true, epsilon=price.epsilon).astype(np.float64))
        agreement = Agreement(tree, [one.variances for one in wide], variance(scale))
        counted = Marginals([one.noisy for one in wide], pairs)
        best = agreement.nearest(counted)
        rows = not_negative(best.singles[0].sum(axis=0))
        return _Counted(wide, tree, agreement, best, agreement.nearest_not_negative(counted), rows)

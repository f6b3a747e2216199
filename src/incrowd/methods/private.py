"""What methods under differential privacy are given: the table in public codes, and nothing that depends on it else."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import all_places, one_by_one, side_by_side
from incrowd.common.exact import Exact, as_exact
from incrowd.common.parameters import require_whole
from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.core.method import AnyMethod
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.dp.accountant import Accountant
from incrowd.dp.boxes.coded_rows import People
from incrowd.dp.boxes.noisy_tree import NoisyTree
from incrowd.dp.budget import Budget
from incrowd.dp.group_privacy import share_of_row
from incrowd.errors import RecipeError, SchemaError, UndeclaredWarning
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.public import UNDECLARED, Undeclared, UndeclaredIsMissing, public_codes, public_tree
from incrowd.hierarchies.tree import MISSING, Tree

_MOST_CLASSES = 4096


@dataclass(frozen=True, eq=False)
class PublicTable:
    """A table in the codes of public trees; `public` has these trees and no rows at all.

    `trees` and `missing` are those of the quasi-identifiers `columns`, in the order of their names; `class_codes[c]`
    are the sensitive codes of class c, sensitive columns in the order of their names too.
    """

    public: Tally
    columns: tuple[str, ...]
    trees: Sequence[Tree]
    missing: Sequence[bool]
    people: People
    class_codes: NDArray[np.int32]


class PrivateMethod(AnyMethod, Protocol):
    """A method whose promise is its own construction: noisy counts of boxes that it chooses under differential privacy.

    Implementations are frozen dataclasses that inherit from this, one file each. The promise is about adding or
    removing one row. Where the schema tells whose a row is, it is about one person, of whom at most `most_rows` rows
    are counted: the method is then run with ε over `most_rows` (`dp/group_privacy.py`).

    Refusals are not part of the promise. If a table holds a value that its hierarchy lacks, or a missing value that was
    not announced, the publisher is told so, and nothing is published. This is the default because a wrong hierarchy
    would otherwise publish an empty table without a word. Use `undeclared="missing"` if outsiders can see whether there
    is a release. It refuses no rows: such values count as missing, rows that may not have missing values, or do not
    tell whose they are, are left out, and a table without rows is accepted. What it cannot hide: files that cannot be
    read or do not fit the memory, and columns of mixed types, which pandas and SQLite allow. One row makes such a
    column text, and 1.0 is then no longer spelled as the category `1`.
    """

    private: ClassVar[bool] = True
    promises_privacy: ClassVar[bool] = True

    missing: tuple[str, ...]
    """Columns that may have missing values."""
    undeclared: Undeclared
    """What becomes of values that were not declared, and of missing ones that were not announced."""
    error_share: Exact = 0
    """The share of ε that tells how wrong counts are."""

    @property
    def errors_are_measured(self) -> bool:
        """Whether a share of ε tells how wrong counts are; where all boxes are single values, only noise is."""
        return as_exact(self.error_share, "error_share") > 0

    @property
    def budget(self) -> Budget:
        """All that it may spend: of each person where there is `most_rows`, else of each row."""
        ...

    @property
    def for_rows(self) -> PrivateMethod:
        """The method that may spend of each row what is left for it if a person has `most_rows` of them."""
        if self.most_rows is None:
            return self
        made: Any = self  # a dataclass, with an ε
        return cast("PrivateMethod", replace(made, epsilon=_share(self.budget, self.most_rows), most_rows=None))

    def prices_people(self, rate: Fraction) -> bool:
        """Whether `measure` itself spends what a person with `most_rows` rows pays, of a sample at some rate."""
        return self.most_rows is None

    @property
    def allows_empty(self) -> bool:
        """Where nobody is refused, a refusal would tell the first person's presence from their absence."""
        return self.undeclared == "missing"

    def counted_as(self, schema: Schema) -> Schema:
        """Where nobody is refused, what was not declared counts as missing."""
        return tolerant(schema) if self.undeclared == "missing" else schema

    def for_counting(self) -> tuple[PrivateMethod, Budget]:
        """Return the method without what tells how wrong its counts are, and that budget."""
        if not self.errors_are_measured:
            return self, Budget.nothing()
        share = as_exact(self.error_share, "error_share")
        made: Any = self
        counting = replace(made, epsilon=str(self.budget.epsilon * (1 - share)))
        return cast("PrivateMethod", counting), Budget(self.budget.epsilon * share)

    def measure(
        self, table: PublicTable, *, rng: np.random.Generator, progress: Progress, accountant: Accountant
    ) -> tuple[NoisyTree, NDArray[np.int64]]:
        """Return the boxes that were counted, and what is published of each leaf by class."""
        ...


def tolerant(schema: Schema) -> Schema:
    """Return a schema by which every table can be counted, as far as its hierarchies are public."""

    def wrapped(hierarchy: Hierarchy) -> Hierarchy:
        return UndeclaredIsMissing(hierarchy) if hierarchy.declares_values else hierarchy

    quasi, sensitive = (
        {name: wrapped(hierarchy) for name, hierarchy in columns.items()}
        for columns in (schema.quasi, schema.sensitive)
    )
    return replace(schema, quasi=quasi, sensitive=sensitive)


def _share(budget: Budget, most_rows: int) -> str:
    """Return the ε of a row as a parameter that is read exactly."""
    return str(share_of_row(budget, most_rows).epsilon)


def require_most_rows(owner: str, most_rows: object) -> None:
    """Refuse anything but a number of rows that a person may have, or nothing."""
    if most_rows is not None:
        require_whole(owner, "most_rows", most_rows, at_least=1)


def require_steps(owner: str, steps: object) -> None:
    """Refuse anything but a number of specializations."""
    require_whole(owner, "steps", steps, at_least=1)


def require_error_share(owner: str, share: Exact) -> int | float | str:
    """Return a share of ε as files can hold it; refuse anything else."""
    if not 0 <= as_exact(share, "error_share") < 1:
        raise RecipeError(f"{owner}: error_share is a share of ε, at least 0 and below 1, not {share}.")
    return as_written(share)


def as_written(number: Exact) -> int | float | str:
    """Return a number as recipes and summaries can hold it."""
    return str(number) if isinstance(number, (Fraction, Decimal)) else number


def column_names(owner: str, names: object) -> tuple[str, ...]:
    """Return a list of column names; refuse anything else."""
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise RecipeError(f'{owner}: missing is a list of column names, such as ["age"], not {names!r}.')
    return tuple(names)


def require_undeclared(owner: str, undeclared: object) -> None:
    """Refuse anything but what can become of undeclared values."""
    if undeclared not in UNDECLARED:
        raise RecipeError(f'{owner}: undeclared is "refuse" or "missing", not {undeclared!r}.')


def public_table(
    tally: Tally, schema: Schema, missing: Sequence[str], undeclared: Undeclared = "missing"
) -> PublicTable:
    """Write a tally in public codes; columns whose values only the data can tell are refused.

    Rows with missing values that were not announced are refused too, or left out one by one.
    """
    hierarchies = {**schema.quasi, **schema.sensitive}
    for name in missing:
        if name not in hierarchies:
            raise SchemaError(f"missing values are allowed in '{name}', which is no published column.")
    trees = {name: public_tree(name, hierarchy) for name, hierarchy in sorted(hierarchies.items())}
    if undeclared == "missing":
        tally = _without_missing(tally, [name for name in trees if name not in missing])
    codes, columns = {}, dict(zip(tally.columns, one_by_one(tally.codes), strict=True))
    for name, tree in trees.items():
        if name not in missing and (columns[name] == MISSING).any():
            raise SchemaError(
                f"column '{name}' has missing values, which must be announced in advance: they count as a value "
                f"of their own.  Hint: say {option('missing', [name], section='method')}, or "
                f"{option('undeclared', 'missing', section='method')} to leave their rows out."
            )
        codes[name] = public_codes(name, tally.trees[name], tree).take(columns.pop(name))
    quasi, sensitive = sorted(schema.quasi), sorted(schema.sensitive)
    class_codes, classes = _classes(sensitive, trees, codes, missing, len(tally))
    if not quasi:
        raise SchemaError("noisy counts need at least one quasi-identifier, and there is none.  Hint: name some.")
    table = side_by_side([codes[name] for name in quasi], len(tally))
    people = People(table, classes, len(class_codes), tally.counts)
    nobody = Tally(tuple(trees), np.empty((0, len(trees)), dtype=np.int32), np.empty(0, dtype=np.int64), trees)
    return PublicTable(
        nobody, tuple(quasi), [trees[name] for name in quasi], [name in missing for name in quasi], people, class_codes
    )


def _without_missing(tally: Tally, columns: Sequence[str]) -> Tally:
    """Leave out rows with missing values in these columns: each by itself, whoever else is there."""
    there = np.ones(len(tally), dtype=bool)
    for name in columns:
        missing = tally.column(name) == MISSING
        if missing.any():
            warnings.warn(
                f"rows are left out: column '{name}' holds missing values, or values that were not declared. (This is "
                "told to you alone; the release does not show it.)",
                UndeclaredWarning,
                stacklevel=2,
            )
        there &= ~missing
    return tally if there.all() else replace(tally, codes=tally.codes[there], counts=tally.counts[there])


def _classes(
    sensitive: Sequence[str],
    trees: dict[str, Tree],
    codes: dict[str, NDArray[np.int32]],
    missing: Sequence[str],
    tuples: int,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the sensitive codes of every class, all combinations of public values, and the class of each tuple."""
    starts = [0 if name in missing else 1 for name in sensitive]
    sizes = [trees[name].size - start for name, start in zip(sensitive, starts, strict=True)]
    number = int(np.prod(sizes, dtype=object)) if sizes else 1
    if number > _MOST_CLASSES:
        raise SchemaError(
            f"the sensitive columns have {number:,} combinations of values, each of which would be counted.  "
            "Hint: make some of them quasi-identifiers."
        )
    places = zip(all_places(sizes), starts, strict=True)
    class_codes = side_by_side([place + start for place, start in places], number)
    classes = np.zeros(tuples, dtype=np.int64)
    for name, start, size in zip(sensitive, starts, sizes, strict=True):
        classes = classes * size + codes[name] - start
    return class_codes, classes

"""What a change of a column is: what becomes of its values before they are published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
import polars as pl

from incrowd.common.arrays import Counts, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.common.registry import Named
from incrowd.errors import SchemaError
from incrowd.hierarchies.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class Column:
    """A column as changes see it: entry i is `counts[i]` people with the value `values[code_of[i]]`.

    `values` are distinct and sorted: numbers, dates or texts. Missing values are no entries, and stay missing. Where
    chance changes values, an entry is one row, or one value of one person with all the rows that have it.
    """

    name: str
    values: pl.Series
    code_of: Ints
    counts: Counts
    hierarchy: Hierarchy | None = None

    @cached_property
    def people(self) -> Counts:
        """How many people have each value."""
        return np.bincount(self.code_of, weights=self.counts, minlength=len(self.values)).astype(np.int64)

    @property
    def whole(self) -> bool:
        """Whether all values are whole numbers by their type."""
        return self.values.dtype.is_integer()

    def require_numbers(self, change: Change) -> Floats:
        """Return the values as numbers, or refuse, in words that quote none of them."""
        if not self.values.dtype.is_numeric():
            raise SchemaError(
                f"column '{self.name}': {change.name} is for numbers, and not all of its values are.  Hint: list texts "
                "that stand for a missing value with missing=, or use a change for names, such as PRAM or Banding."
            )
        return np.asarray(self.values.cast(pl.Float64).to_numpy())


class Change(Named, Protocol):
    """What becomes of a column. Implementations are frozen dataclasses that inherit from this, one file each.

    A change without chance implements `recode`, one with chance `perturb`. A missing value stays missing.
    """

    by_chance: ClassVar[bool] = False
    """Whether chance decides what a value becomes."""
    uses_hierarchy: ClassVar[bool] = False
    """Whether it needs the column's hierarchy."""

    @property
    def looks_at_data(self) -> bool:
        """Whether what becomes of one person's value depends on those of others: private methods refuse that."""
        return False

    def recode(self, column: Column) -> pl.Series:
        """Return what becomes of each of the column's distinct values."""
        return column.values

    def perturb(self, column: Column, rng: np.random.Generator) -> pl.Series:
        """Return what chance makes of each of the column's entries."""
        return self.recode(column).gather(column.code_of)

    def told(self, column: Column) -> Mapping[str, Any]:
        """Return what an analyst needs beyond its parameters, as plain values: nothing that was drawn, and no value
        that one person has.
        """
        return {}

    def corrected(
        self, told: Mapping[str, Any], values: Sequence[str | None], rows: Floats, satisfied: Floats
    ) -> Floats | None:
        """Return what rows that show each value count for, in an unbiased count of people who truly satisfy something.

        `satisfied` are the values that do, `rows` how many show each, and `told` is what was told of this change. None
        where no such count is known.
        """
        return None

    def says(self) -> str:
        """Return what was done, and what is left to know: a clause for warnings and pages."""
        ...


def shown_number(number: float) -> str:
    """Return a number as recipes write it: 1000, not 1000.0.

    >>> shown_number(1000.0), shown_number(0.5)
    ('1000', '0.5')
    """
    return str(int(number)) if float(number).is_integer() and abs(number) < 2**53 else repr(float(number))


def three_digits(number: float) -> float:
    """Return a number of which all digits but three are 0: more of them would tell whose values it is made of.

    >>> three_digits(123456.0), three_digits(0.012345)
    (123000.0, 0.0123)
    """
    return float(f"{number:.3g}")

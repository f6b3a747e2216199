"""What every hierarchy can do: meet a column's values and become a tree over them."""

from __future__ import annotations

from typing import ClassVar, Literal, Protocol

import polars as pl

from incrowd.common.arrays import Codes
from incrowd.common.records import dataclass
from incrowd.common.registry import Named
from incrowd.errors import UncoveredValue
from incrowd.hierarchies.tree import Tree


@dataclass(frozen=True)
class HiddenCharacters:
    """So many characters at one side of a code that another character stands for."""

    number: int
    side: Literal["right", "left"]
    mask: str


class Hierarchy(Named, Protocol):
    """How a value becomes less specific, level by level. Implementations are frozen dataclasses that inherit from this.

    In recipes its name is the `kind` of a hierarchy.
    """

    declares_values: ClassVar[bool] = False
    """Whether it can tell all values of a column without the data, which private methods need."""
    of_dates: ClassVar[bool] = False
    """Whether it is one of dates, so that a label such as `[1910, 1920)` is one of years."""

    def declared_values(self, column: str) -> pl.Series:
        """Return values from which `build` makes the tree of all that a column may hold; refuse if it cannot tell."""
        return pl.Series([], dtype=pl.String)

    def as_published(self, values: pl.Series) -> Hierarchy:
        """Return it as the recipe of a release tells it, whose rows have these values.

        It names no others, unless the owner declared them; by default a hierarchy lists no values.
        """
        return self

    def hidden_characters(self, name: str) -> HiddenCharacters | None:
        """Return what a node's name hides of a code, where characters of codes are hidden; by default they are not."""
        return None

    def placed(self, values: pl.Series) -> pl.Series:
        """Return the values with null for those that it has no place for, each judged by itself; by default for none.

        `build` refuses such values, which tells that somebody has one; private methods must not.
        """
        return values

    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        """Return the tree for a column that holds these values, and the code of each of them."""
        ...


def require_covered(column: str, values: pl.Series, wrong: pl.Series) -> None:
    """Raise `UncoveredValue` if the mask `wrong` marks any of the values."""
    if wrong.any():
        uncovered = values.filter(wrong).unique().sort()
        raise UncoveredValue(column, uncovered.head(5).to_list(), len(uncovered))

"""What every hierarchy can do: meet a column's values and become a tree over them."""

from __future__ import annotations

from typing import ClassVar, Protocol

import polars as pl

from incrowd.errors import UncoveredValue
from incrowd.hierarchies.tree import Codes, Tree


class Hierarchy(Protocol):
    """How a value becomes less specific, level by level. Implementations are frozen dataclasses."""

    name: ClassVar[str]
    """Its name in recipes."""

    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        """Return the tree for a column that holds these values, and the code of each of them."""
        ...


def require_covered(column: str, values: pl.Series, wrong: pl.Series) -> None:
    """Raise `UncoveredValue` if the mask `wrong` marks any of the values."""
    if wrong.any():
        uncovered = values.filter(wrong).unique().sort()
        raise UncoveredValue(column, uncovered.head(5).to_list(), len(uncovered))

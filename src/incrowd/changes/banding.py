"""Banding: every value becomes the node above it in the column's hierarchy."""

from __future__ import annotations

from typing import ClassVar

import polars as pl

from incrowd.changes.change import Change, Column
from incrowd.common.parameters import require_whole
from incrowd.common.records import dataclass
from incrowd.errors import SchemaError


@dataclass(frozen=True)
class Banding(Change):
    """Publish a value's band: its node at a level of the column's hierarchy.

    Parameters
    ----------
    level : the level, from 1 on. 0 is the value itself.

    The hierarchy is given with `hierarchies`, or in the column of a recipe, and must not be made from the data: its
    bounds would be somebody's values. Bands are names: models then see no order among them.

    >>> Banding(2).says()
    'published as the node at level 2 of its hierarchy'
    """

    level: int
    name: ClassVar[str] = "banding"
    plain_name: ClassVar[str] = "bands in place of values"
    uses_hierarchy: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_whole(self.name, "level", self.level, at_least=1)

    @classmethod
    def examples(cls) -> tuple[Banding, ...]:
        """Return one for the lowest bands."""
        return (cls(1),)

    def recode(self, column: Column) -> pl.Series:
        """Name the node of each value."""
        if column.hierarchy is None:
            raise SchemaError(
                f"column '{column.name}': banding follows a hierarchy, and the column has none.  Hint: give one with "
                "hierarchies=, such as Intervals or Categories."
            )
        tree, codes = column.hierarchy.build(column.name, column.values)
        if tree.from_data:
            raise SchemaError(
                f"column '{column.name}': its hierarchy is made from the data, and bands would show values of people.  "
                "Hint: declare one, such as Intervals or Categories."
            )
        if self.level > tree.height:
            raise SchemaError(
                f"column '{column.name}': its hierarchy has {tree.height} levels, and banding asks for level "
                f"{self.level}."
            )
        return tree.names[self.level].gather(tree.nodes[self.level, codes])

    def says(self) -> str:
        """Say which level."""
        return f"published as the node at level {self.level} of its hierarchy"

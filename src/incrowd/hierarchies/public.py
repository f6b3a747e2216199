"""A column as everybody knows it: the values it may have, whatever the table holds.

Differential privacy hides whether somebody is in the table, so nothing may depend on which values happen to be there.
Category trees list their values; numbers need intervals with a lower and an upper bound, or with cuts. What the data
itself must tell (a flat or automatic hierarchy) is refused.

That a table holds a value which was not declared is told to whoever publishes, by an error, and so is not private. Who
must not even see that asks for `undeclared="missing"`: `UndeclaredIsMissing` turns such values into missing ones, row
by row, so one row more or less is still one row more or less.
"""

from __future__ import annotations

from typing import ClassVar, Literal
from weakref import ref

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes
from incrowd.common.records import dataclass
from incrowd.errors import SchemaError
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.texts import code_names
from incrowd.hierarchies.tree import Tree
from incrowd.hierarchies.values import as_text

Undeclared = Literal["refuse", "missing"]
UNDECLARED = ("refuse", "missing")

_KNOWN: dict[tuple[str, int], tuple[ref[Hierarchy], Tree]] = {}
"""Trees of hierarchies that are still in use: every count and every question about a column asks for its tree again."""


@dataclass(frozen=True)
class UndeclaredIsMissing(Hierarchy):
    """A public hierarchy for which whatever was not declared is missing; no column can fail to meet it.

    Numbers beyond the bounds are not undeclared: they count as the last one. Text in a column of numbers is.
    """

    declared: Hierarchy
    name: ClassVar[str] = "undeclared is missing"
    listed: ClassVar[bool] = False

    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        """Return the tree for a column that holds these values, and the code of each of them."""
        public = public_tree(column, self.declared)
        if not public.ordered:
            text = as_text(values)
            known = pl.Series(code_names(text, public.values.slice(1)) > 0)
            return self.declared.build(column, pl.select(pl.when(known).then(text)).to_series())
        numbers = values if values.dtype.is_numeric() else values.cast(pl.String).str.strip_chars()
        bounds = public.values.slice(1).cast(pl.Float64)
        within = numbers.cast(pl.Float64, strict=False).fill_nan(None).clip(bounds.min(), bounds.max())  # type: ignore[arg-type]
        return self.declared.build(column, within)


@dataclass(frozen=True)
class EachByItself(Hierarchy):
    """A declared hierarchy for which a value that it has no place for is missing, whatever other rows hold."""

    declared: Hierarchy
    name: ClassVar[str] = "each by itself"
    listed: ClassVar[bool] = False

    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        """Return the tree for a column that holds these values, and the code of each of them."""
        return self.declared.build(column, self.declared.placed(values))


def public_tree(column: str, hierarchy: Hierarchy) -> Tree:
    """Return the tree of all values that a column may have; refuse a hierarchy that only the data can complete.

    Numbers from a lower to an upper bound are taken one by one where all bounds of intervals are whole, and else as the
    finest intervals. The two bounds stand for everything beyond them, so that no value outside is ever published. Cuts
    name no bounds; there, one value below the first stands for everything below.
    """
    if hierarchy.declares_values:
        key = column, id(hierarchy)
        known = _KNOWN.get(key)
        if known is not None and known[0]() is hierarchy:
            return known[1]
        tree = hierarchy.build(column, hierarchy.declared_values(column))[0]
        _KNOWN[key] = ref(hierarchy, lambda _: _KNOWN.pop(key, None)), tree
        return tree
    raise SchemaError(
        f"column '{column}': its values are known from the data only, and differential privacy must not depend on "
        f"which are there.  Hint: declare them, as categories or as intervals with lower and upper, in place of "
        f"'{hierarchy.name}'."
    )


def public_codes(column: str, table: Tree, public: Tree) -> Codes:
    """Return, for each code of the table's tree, the public one: numbers go to the value at or below them.

    A name that a category tree lacks has been refused when the table was counted; that there is none is not private.
    """
    if not public.ordered:
        if public.size != table.size:
            raise SchemaError(f"column '{column}': its values are not those of its hierarchy.")
        return np.arange(table.size, dtype=np.int32)
    known = public.values.slice(1).cast(pl.Float64).to_numpy()
    values = table.values.slice(1).cast(pl.Float64).to_numpy()
    place = np.clip(np.searchsorted(known, values, side="right"), 1, len(known))
    return np.concatenate(([0], place)).astype(np.int32)

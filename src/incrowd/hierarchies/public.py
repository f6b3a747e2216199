"""A column as everybody knows it: the values it may have, whatever the table holds.

Differential privacy hides whether somebody is in the table, so nothing may depend on which values happen to be there.
Category trees list their values; numbers need intervals with a lower and an upper bound, or with cuts. What the data
itself must tell (a flat or automatic hierarchy) is refused.

That a table holds a value which was not declared is told to whoever publishes, by an error, and so is not private. Who
must not even see that asks for `undeclared="missing"`: `UndeclaredIsMissing` turns such values into missing ones, row
by row, so one row more or less is still one row more or less.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from incrowd.errors import SchemaError
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.intervals import Intervals
from incrowd.hierarchies.tree import Codes, Tree
from incrowd.hierarchies.values import as_text
from incrowd.schema import Schema

Undeclared = Literal["refuse", "missing"]
UNDECLARED = ("refuse", "missing")

_MOST_VALUES = 100_000


@dataclass(frozen=True)
class UndeclaredIsMissing:
    """A public hierarchy for which whatever was not declared is missing; no column can fail to meet it.

    Numbers beyond the bounds are not undeclared: they count as the last one. Text in a column of numbers is.
    """

    declared: Categories | Intervals
    name: ClassVar[str] = "undeclared is missing"

    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        """Return the tree for a column that holds these values, and the code of each of them."""
        public = public_tree(column, self.declared)
        if isinstance(self.declared, Categories):
            text = as_text(values)
            known = text.is_in(public.values.drop_nulls().to_list())
            return self.declared.build(column, pl.select(pl.when(known).then(text)).to_series())
        numbers = values if values.dtype.is_numeric() else values.cast(pl.String).str.strip_chars()
        bounds = public.values.slice(1).cast(pl.Float64)
        within = numbers.cast(pl.Float64, strict=False).fill_nan(None).clip(bounds.min(), bounds.max())  # type: ignore[arg-type]
        return self.declared.build(column, within)


def tolerant(schema: Schema) -> Schema:
    """Return a schema by which every table can be counted, as far as its hierarchies are public."""

    def wrapped(hierarchy: Hierarchy) -> Hierarchy:
        return UndeclaredIsMissing(hierarchy) if isinstance(hierarchy, (Categories, Intervals)) else hierarchy

    quasi, sensitive = (
        {name: wrapped(hierarchy) for name, hierarchy in columns.items()}
        for columns in (schema.quasi, schema.sensitive)
    )
    return replace(schema, quasi=quasi, sensitive=sensitive)


def public_tree(column: str, hierarchy: Hierarchy) -> Tree:
    """Return the tree of all values that a column may have; refuse a hierarchy that only the data can complete.

    Numbers from a lower to an upper bound are taken one by one where all bounds of intervals are whole, and else as the
    finest intervals. One value below the lower bound, and the upper one itself, stand for everything beyond.
    """
    if isinstance(hierarchy, Categories):
        return hierarchy.build(column, pl.Series([], dtype=pl.String))[0]
    if isinstance(hierarchy, Intervals):
        return hierarchy.build(column, _numbers(column, hierarchy))[0]
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


def _numbers(column: str, hierarchy: Intervals) -> pl.Series:
    if hierarchy.cuts:
        return _whole_or(column, [float(cut) for cut in hierarchy.cuts[0]])
    if hierarchy.lower is None or hierarchy.upper is None:
        raise SchemaError(
            f"column '{column}': differential privacy needs to know where its numbers begin and end, without looking.  "
            "Hint: give its intervals a lower and an upper bound."
        )
    lower, upper, width, origin = (
        Fraction(str(number)) for number in (hierarchy.lower, hierarchy.upper, hierarchy.widths[0], hierarchy.origin)
    )
    first, last = (lower - origin) // width + 1, -((origin - upper) // width)
    if last - first > _MOST_VALUES:
        raise SchemaError(
            f"column '{column}': {last - first:,} intervals are too many.  Hint: make the finest ones wider."
        )
    inner = [origin + width * step for step in range(first, last)]
    return _whole_or(column, [float(bound) for bound in (lower, *inner, upper)])


def _whole_or(column: str, bounds: list[float]) -> pl.Series:
    """Return the whole numbers between bounds where these are whole, else the bounds; and one below them."""
    if all(bound.is_integer() for bound in bounds) and bounds[-1] - bounds[0] <= _MOST_VALUES:
        return pl.Series(np.arange(int(bounds[0]) - 1, int(bounds[-1]) + 1))
    step = min((high - low for low, high in pairwise(bounds)), default=1.0)
    return pl.Series(np.array([bounds[0] - step, *bounds]))

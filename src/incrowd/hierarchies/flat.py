"""Value → anything: the hierarchy of a column that has no groups worth naming."""

from __future__ import annotations

from typing import ClassVar

import polars as pl

from incrowd.common.arrays import Codes
from incrowd.common.records import dataclass
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.tree import Kind, Tree, grow
from incrowd.hierarchies.values import as_text, code_values, natural_kind


@dataclass(frozen=True)
class Flat(Hierarchy):
    """A value is published as it is, in a range or set with its neighbours, or not at all.

    >>> tree, codes = Flat().build("age", pl.Series([30, None, 20]))
    >>> codes.tolist(), tree.height
    ([2, 0, 1], 1)
    """

    name: ClassVar[str] = "flat"

    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        """Order the values as numbers, dates or text, whichever all of them are."""
        return self.build_natural(column, natural_kind(values))

    def build_natural(self, column: str, natural: pl.Series) -> tuple[Tree, Codes]:
        """Order values that are what they look like already."""
        distinct, codes = code_values(natural)
        return grow(column, distinct, kind_of(distinct), from_data=True), codes


@dataclass(frozen=True)
class Exact(Hierarchy):
    """For sensitive columns: values keep their spelling, and `5` and `5.0` still count as one value, not as two.

    Counting two spellings of one number as two values would overstate diversity.
    """

    name: ClassVar[str] = "exact"

    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        """Order the values by what they are and keep the shortest spelling of each."""
        if values.dtype == pl.String and (values == "").any():
            values = values.replace("", None)  # a file cannot tell empty text from missing
        natural = natural_kind(values)
        if values.dtype != pl.String or natural.dtype == pl.String:
            distinct, codes = code_values(natural if values.dtype == pl.String or values.dtype.is_float() else values)
            return grow(column, distinct, kind_of(distinct), from_data=True), codes
        distinct, codes = code_values(natural)
        spelled = (
            pl.DataFrame({"code": codes, "spelling": as_text(values)})
            .filter(pl.col("code") > 0)
            .sort("code", pl.col("spelling").str.len_bytes(), "spelling")
            .unique("code", keep="first", maintain_order=True)
        )
        return grow(column, spelled["spelling"], "text", from_data=True), codes


@dataclass(frozen=True)
class AsWritten(Hierarchy):
    """For sensitive columns under a promise: what a row shows, and where, depends on its own value alone.

    `Exact` spells a number as the shortest row does, and orders values by what all of them are.
    """

    name: ClassVar[str] = "as written"
    listed: ClassVar[bool] = False

    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        """Order the values as they are."""
        if values.dtype == pl.String:
            values = values.replace("", None)  # a file cannot tell empty text from missing
        distinct, codes = code_values(values.fill_nan(None) if values.dtype.is_float() else values)
        return grow(column, distinct, kind_of(distinct), from_data=True), codes


def kind_of(values: pl.Series) -> Kind:
    """Return whether the values are numbers, dates or text."""
    if values.dtype.is_numeric():
        return "number"
    return "date" if values.dtype in (pl.Date, pl.Datetime) else "text"

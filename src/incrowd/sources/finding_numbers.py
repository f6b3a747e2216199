"""Whether the numbers of a column have a decimal comma or a point, and what separates their thousands.

`1,5` can only have a decimal comma and `1,234.5` only a point, but `1,234` may be either. So a column is decided by the
values that tell, if these are not few; else by the other columns of the file; else the owner is asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl

from incrowd.common.records import dataclass
from incrowd.sources.written import DECIMALS, UNITS, Decimal, WrittenNumber

MOST_ALIKE = 0.5
DECIDING = 0.1
"""Share of the values with a point or a comma that must tell which of them is the decimal one."""
_UNIT = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
_UNIT_BEFORE = rf"^[+−-]?\s*({_UNIT})\s*[+−-]?[\d,.]"
_UNIT_AFTER = rf"\d\s*({_UNIT})$"
begins_like_a_number = re.compile(rf"\s*[+−-]?\s*(?:{_UNIT})?\s*[+−-]?[\d,.]").match
_BROKEN_DECIMAL = r"\.(?:\d{1,2}|\d{4,})$"
_POINT_GROUPS = r"^[+-]?[1-9]\d{0,2}(?:\.\d{3})+$"
_DIGIT = re.compile(r"\d")
_SPACED = r"\d[^\d.,eE+-]\d{3}"


@dataclass(frozen=True)
class NumberCounts:
    """What was counted over all rows of a column that have a value."""

    present: int
    comma: int
    """Rows that fit a decimal comma."""
    point: int
    both: int
    with_comma: int
    """Of those that fit both: rows with a comma, which is a decimal one or separates thousands."""
    with_point: int
    grouped: int
    """Rows that fit a decimal point and have a comma, which then separates thousands."""
    marked: int
    """Rows with a comma or a point that fit either."""
    spaced: int
    """Rows with a space or an apostrophe between thousands."""

    def fitting(self, decimal: Decimal) -> int:
        """Rows that fit."""
        return self.comma if decimal == "," else self.point

    def decided(self, stated: Decimal | None) -> Decimal | None:
        """Return the one decimal sign that all rows fit, if enough of them fit no other."""
        for decimal in DECIMALS:
            if self.fitting(decimal) == self.present and self.both < self.present:
                telling = self.present - self.both
                return decimal if stated == decimal or telling >= DECIDING * self.marked else None
        return None


@dataclass(frozen=True)
class NumberCandidate:
    """A column of numbers that are not written plainly, or may not be."""

    unit: str = ""

    def checks(self, column: pl.Expr) -> dict[str, pl.Expr]:
        """Count what `NumberCounts` holds."""
        text = column.str.strip_chars()
        has_unit = text.str.contains(self.unit, literal=True) if self.unit else text.is_not_null()
        comma, point = (WrittenNumber(decimal, self.unit).fits(column) & has_unit for decimal in DECIMALS)
        both, either = comma & point, comma | point
        with_comma, with_point = text.str.contains(",", literal=True), text.str.contains(".", literal=True)
        return {
            "comma": comma.sum(),
            "point": point.sum(),
            "both": both.sum(),
            "with_comma": (both & with_comma).sum(),
            "with_point": (both & with_point).sum(),
            "grouped": (point & with_comma).sum(),
            "marked": (either & (with_comma | with_point)).sum(),
            "spaced": (either & text.str.contains(_SPACED)).sum(),
        }


def number_candidate(values: pl.Series, *, decimal: Decimal | None, may_hold_commas: bool) -> NumberCandidate | None:
    """Return a candidate where most of a sample's values may be numbers, and some are not written plainly."""
    if not _DIGIT.search("\n".join(values.to_list())):
        return None
    if are_plain(values):
        grouped = (may_hold_commas or decimal == ",") and bool(values.str.contains(_POINT_GROUPS).any())
        return NumberCandidate() if grouped else None
    if sum(map(bool, map(begins_like_a_number, values.to_list()))) < MOST_ALIKE * len(values):
        return None  # without patterns of Polars, which take long to be read
    unit = _unit_of(values)
    fitting = pl.any_horizontal(WrittenNumber(one, unit).fits(pl.col("v")) for one in DECIMALS)
    share = values.to_frame("v").select(fitting.mean()).item() or 0.0
    return NumberCandidate(unit) if share >= MOST_ALIKE else None


def are_plain(values: pl.Series) -> bool:
    """Whether all of these are numbers as every program writes them."""
    return values.cast(pl.Float64, strict=False).null_count() == values.null_count()


def broken_decimals(values: pl.Series) -> bool:
    """Whether these are plain numbers with a decimal point beyond doubt: `12.5`, not `1.234`."""
    return are_plain(values) and bool(values.str.contains(_BROKEN_DECIMAL).any())


def counts_of(present: int, counted: Mapping[str, int]) -> NumberCounts:
    """Return the counts of a column's checks."""
    return NumberCounts(present=present, **counted)


def _unit_of(values: pl.Series) -> str:
    """Return the sign of money or per cent that most values have."""
    found = values.str.extract(_UNIT_BEFORE).fill_null(values.str.extract(_UNIT_AFTER))
    common = found.drop_nulls().value_counts(sort=True).head(1)
    if not common.height or common["count"][0] < MOST_ALIKE * len(values):
        return ""
    return str(common.row(0)[0])

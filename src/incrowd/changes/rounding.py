"""Rounding: every number becomes the nearest multiple of a base."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar

import numpy as np
import polars as pl

from incrowd.changes.change import Change, Column, shown_number
from incrowd.common.parameters import require_number
from incrowd.common.records import dataclass

_LARGEST = 2.0**62


@dataclass(frozen=True)
class Rounding(Change):
    """Publish numbers rounded to the nearest multiple of a base.

    Parameters
    ----------
    to : the base: 1000 makes 12,345 into 12,000. A number in the middle of two multiples becomes the larger one.

    It is the same for everybody, and hides no more than half of the base either way.

    >>> Rounding(1000).says()
    'rounded to multiples of 1000'

    Reference: Willenborg & de Waal (2001), Elements of Statistical Disclosure Control.
    """

    to: float
    name: ClassVar[str] = "rounding"
    plain_name: ClassVar[str] = "rounded numbers"

    def __post_init__(self) -> None:
        require_number(self.name, "to", self.to, above=0)

    @classmethod
    def examples(cls) -> tuple[Rounding, ...]:
        """Return one with a whole base, and one with a fraction."""
        return (cls(10), cls(0.5))

    def recode(self, column: Column) -> pl.Series:
        """Round each number, whole ones exactly."""
        numbers = column.require_numbers(self)
        if column.whole and float(self.to).is_integer() and np.abs(numbers).max(initial=0) + self.to < _LARGEST:
            base = int(self.to)
            whole = column.values.cast(pl.Int64).to_numpy()
            return pl.Series((whole + base // 2) // base * base)
        places = max(-int(Decimal(repr(float(self.to))).normalize().as_tuple().exponent), 0)
        return pl.Series(np.round(np.floor(numbers / self.to + 0.5) * self.to, places))

    def says(self) -> str:
        """Say to what."""
        return f"rounded to multiples of {shown_number(self.to)}"

"""Numbers of which only the sign is published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from incrowd.changes.change import Change, Column


@dataclass(frozen=True)
class TinyChange(Change):
    """Publish whether a number is negative, zero or positive."""

    name: ClassVar[str] = "tiny-change"

    def recode(self, column: Column) -> pl.Series:
        """Take the sign."""
        return pl.Series(np.sign(column.require_numbers(self)).astype(np.int64))

    def says(self) -> str:
        """Say what is left."""
        return "published as its sign"

"""Multisets: every row shows how often each value occurs in its group, attribute by attribute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from incrowd.forms.slices import all_columns, sliced
from incrowd.recoding import Recoding
from incrowd.releases.multisets import MultisetTable
from incrowd.schema import Schema
from incrowd.tally import Tally


@dataclass(frozen=True)
class ShowMultisets:
    """The exact values of a group, and how often each occurs, in place of a range that covers them."""

    name: ClassVar[str] = "multisets"

    def show(
        self, tally: Tally, schema: Schema, recoding: Recoding, *, rows_in: int, rng: np.random.Generator
    ) -> MultisetTable:
        """Count the values of every group."""
        columns = all_columns((), schema)
        return sliced(MultisetTable, tally, schema, recoding, columns, rows_in=rows_in, rng=rng)

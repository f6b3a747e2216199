"""Generalized values: every row shows its group's labels in place of its own quasi-identifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from incrowd.recoding import Recoding
from incrowd.releases.generalized import Generalized
from incrowd.schema import Schema
from incrowd.tally import Tally


@dataclass(frozen=True)
class ShowGeneralized:
    """Labels that hold for everybody in the group; sensitive values as they are."""

    name: ClassVar[str] = "generalized"

    def show(
        self, tally: Tally, schema: Schema, recoding: Recoding, *, rows_in: int, rng: np.random.Generator
    ) -> Generalized:
        """Label every group. Deterministic: `rng` is not used."""
        return Generalized.of(tally, schema, recoding, rows_in=rows_in)

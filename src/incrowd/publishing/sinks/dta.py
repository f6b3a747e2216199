"""Stata, with labels of variables and of values."""

from __future__ import annotations

from datetime import date
from typing import Any, ClassVar

import polars as pl

from incrowd.common.records import dataclass
from incrowd.publishing.sinks.held_types import Held
from incrowd.publishing.sinks.labelled import StatisticsSink

_TAKEN = ("column_labels", "variable_value_labels", "variable_format")


@dataclass(frozen=True)
class DtaSink(StatisticsSink):
    """A file of Stata."""

    name: ClassVar[str] = "dta"
    suffixes: ClassVar[tuple[str, ...]] = (".dta",)
    held: ClassVar[Held] = Held(
        "a Stata file", program="Stata", first_date=date(1, 1, 1), times=True, booleans=False, longest_labelled=31
    )

    def hand_over(self, pyreadstat: Any, frame: pl.DataFrame, path: str, said: dict[str, Any]) -> None:
        """Hand over labels and formats: Stata has no codes for missing of its own."""
        pyreadstat.write_dta(frame, path, **{key: said[key] for key in _TAKEN})

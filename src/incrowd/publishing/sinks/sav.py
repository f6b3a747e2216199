"""SPSS, with labels of variables and of values, and codes for missing."""

from __future__ import annotations

from datetime import date
from typing import Any, ClassVar

import polars as pl

from incrowd.common.records import dataclass
from incrowd.publishing.sinks.held_types import Held
from incrowd.publishing.sinks.labelled import StatisticsSink


@dataclass(frozen=True)
class SavSink(StatisticsSink):
    """A file of SPSS."""

    name: ClassVar[str] = "sav"
    suffixes: ClassVar[tuple[str, ...]] = (".sav", ".zsav", ".por")
    held: ClassVar[Held] = Held(
        "an SPSS file", program="SPSS", first_date=date(1583, 1, 1), times=True, booleans=False, longest_labelled=32
    )

    def hand_over(self, pyreadstat: Any, frame: pl.DataFrame, path: str, said: dict[str, Any]) -> None:
        """Hand over all that is said."""
        pyreadstat.write_sav(frame, path, row_compress=True, **said)

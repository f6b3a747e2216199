"""SAS' transport file, which has labels of variables; labels of values are in a catalogue that only SAS writes."""

from __future__ import annotations

from datetime import date
from typing import Any, ClassVar

import polars as pl

from incrowd.common.records import dataclass
from incrowd.publishing.sinks.held_types import Held
from incrowd.publishing.sinks.labelled import StatisticsSink


@dataclass(frozen=True)
class XptSink(StatisticsSink):
    """A transport file of SAS, version 8."""

    name: ClassVar[str] = "xpt"
    suffixes: ClassVar[tuple[str, ...]] = (".xpt", ".sas7bdat")
    held: ClassVar[Held] = Held("a SAS file", program="SAS", first_date=date(1583, 1, 1), times=True, booleans=False)

    def hand_over(self, pyreadstat: Any, frame: pl.DataFrame, path: str, said: dict[str, Any]) -> None:
        """Hand over labels of columns."""
        pyreadstat.write_xport(frame, path, column_labels=said["column_labels"])

"""SAS' transport file, which has labels of variables; labels of values are in a catalogue that only SAS writes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import ClassVar

import polars as pl

from incrowd.core.codebook import Codebook
from incrowd.core.sink import Sink
from incrowd.publishing.sinks.held_types import Held
from incrowd.publishing.sinks.labelled import as_arguments, columns_to_write, through_pyreadstat

_HELD = Held("a SAS file", program="SAS", first_date=date(1583, 1, 1), times=True, booleans=False)


@dataclass(frozen=True)
class XptSink(Sink):
    """A transport file of SAS, version 8."""

    name: ClassVar[str] = "xpt"
    suffixes: ClassVar[tuple[str, ...]] = (".xpt", ".sas7bdat")
    extra: ClassVar[str | None] = "statistics"
    names_are_words: ClassVar[bool] = True

    def write(self, batches: Iterator[pl.DataFrame], path: Path, *, separator: str) -> None:
        """Write all rows at once."""
        self.write_labelled(batches, path, separator=separator, codebook=None)

    def write_labelled(
        self, batches: Iterator[pl.DataFrame], path: Path, *, separator: str, codebook: Codebook | None
    ) -> None:
        """Write all rows, and what is said of their columns."""
        frame, said = as_arguments(columns_to_write(batches, codebook, _HELD))
        with through_pyreadstat(_HELD.noun) as pyreadstat:
            pyreadstat.write_xport(frame, str(path), column_labels=said["column_labels"])

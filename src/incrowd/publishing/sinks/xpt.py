"""SAS' transport file, which has labels of variables; labels of values are in a catalogue that only SAS writes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import ClassVar, Self

import polars as pl

from incrowd.core.codebook import Codebook
from incrowd.core.sink import Sink
from incrowd.publishing.sinks.held_types import Held
from incrowd.publishing.sinks.labelled import as_arguments, columns_to_write, through_pyreadstat

_HELD = Held("a SAS file", program="SAS", first_date=date(1583, 1, 1), times=True, booleans=False)


@dataclass(frozen=True)
class XptSink(Sink):
    """A transport file of SAS, version 8."""

    codebook: Codebook | None = None
    name: ClassVar[str] = "xpt"
    suffixes: ClassVar[tuple[str, ...]] = (".xpt", ".sas7bdat")
    extra: ClassVar[str | None] = "statistics"
    names_are_words: ClassVar[bool] = True

    def with_codebook(self, codebook: Codebook | None) -> Self:
        """Write what the table's own file says of its columns."""
        return replace(self, codebook=codebook)

    def write(self, batches: Iterator[pl.DataFrame], path: Path, *, separator: str) -> None:
        """Write all rows at once."""
        frame, said = as_arguments(columns_to_write(batches, self.codebook, _HELD, values_have_labels=False))
        with through_pyreadstat(_HELD.noun) as pyreadstat:
            pyreadstat.write_xport(frame, str(path), column_labels=said["column_labels"])

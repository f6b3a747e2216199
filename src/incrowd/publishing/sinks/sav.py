"""SPSS, with labels of variables and of values, and codes for missing."""

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

_HELD = Held(
    "an SPSS file", program="SPSS", first_date=date(1583, 1, 1), times=True, booleans=False, longest_labelled=32
)


@dataclass(frozen=True)
class SavSink(Sink):
    """A file of SPSS."""

    name: ClassVar[str] = "sav"
    suffixes: ClassVar[tuple[str, ...]] = (".sav", ".zsav", ".por")
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
            pyreadstat.write_sav(frame, str(path), row_compress=True, **said)

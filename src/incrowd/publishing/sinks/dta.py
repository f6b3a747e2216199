"""Stata, with labels of variables and of values."""

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

_HELD = Held("a Stata file", program="Stata", first_date=date(1, 1, 1), times=True, booleans=False, longest_labelled=31)
_TAKEN = ("column_labels", "variable_value_labels", "variable_format")


@dataclass(frozen=True)
class DtaSink(Sink):
    """A file of Stata."""

    name: ClassVar[str] = "dta"
    suffixes: ClassVar[tuple[str, ...]] = (".dta",)
    extra: ClassVar[str | None] = "statistics"
    names_are_words: ClassVar[bool] = True

    def write(self, batches: Iterator[pl.DataFrame], path: Path, *, separator: str) -> None:
        """Write all rows at once."""
        self.write_labelled(batches, path, separator=separator, codebook=None)

    def write_labelled(
        self, batches: Iterator[pl.DataFrame], path: Path, *, separator: str, codebook: Codebook | None
    ) -> None:
        """Write all rows, and what is said of their columns."""
        columns = columns_to_write(batches, codebook, _HELD)
        frame, said = as_arguments(columns)
        with through_pyreadstat(_HELD.noun) as pyreadstat:
            pyreadstat.write_dta(frame, str(path), **{key: said[key] for key in _TAKEN})

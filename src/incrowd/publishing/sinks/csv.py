"""CSV: the separator of the table that was read, a header, one line a row."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, ClassVar

import numpy as np
import polars as pl
import polars.selectors as cs

from incrowd.common.arrays import Counts
from incrowd.common.records import dataclass
from incrowd.core.runs import TIMES
from incrowd.core.sink import Sink
from incrowd.hierarchies.values import as_text
from incrowd.kernels.repeating import repeat_lines


@dataclass(frozen=True)
class CsvSink(Sink):
    """Text that every other program reads."""

    name: ClassVar[str] = "csv"
    opened_by_spreadsheets: ClassVar[bool] = True
    takes_runs: ClassVar[bool] = True
    keeps_types: ClassVar[bool] = False
    suffixes: ClassVar[tuple[str, ...]] = (".csv", ".tsv", ".txt")

    def write(self, batches: Iterator[pl.DataFrame], path: Path, *, separator: str) -> None:
        """Write batch after batch, the header once."""
        with path.open("wb") as file:
            for number, given in enumerate(batches):
                batch = pl.DataFrame([column for column in given.get_columns() if column.name != TIMES])
                # In a single column, a missing value without quotes would be a blank line, which is no row.
                null = '""' if batch.width == 1 else None
                # Spelt as everywhere else: Polars would write six or nine places after a second's point, and 1.0 for 1.
                floats = [
                    as_text(column.alias("")).alias(column.name)
                    for column in batch.get_columns()
                    if column.dtype.is_float()
                ]
                plain = batch.with_columns(*floats) if floats else batch
                if any(dtype.is_temporal() for dtype in batch.dtypes):
                    plain = plain.with_columns(cs.duration().dt.to_string("iso"), cs.time().cast(pl.String), _times())
                if number == 0:
                    plain.clear().write_csv(file, separator=separator, null_value=null)
                times = given[TIMES].to_numpy() if TIMES in given.columns else None
                _write_rows(plain, times, file, separator, null)


def _write_rows(rows: pl.DataFrame, times: Counts | None, file: BinaryIO, separator: str, null: str | None) -> None:
    """Write rows without a header, each so many times."""
    if times is not None:
        once = BytesIO()
        rows.write_csv(once, include_header=False, separator=separator, null_value=null)
        repeated = repeat_lines(once.getvalue(), times)
        if repeated is not None:
            file.write(repeated)
            return
        rows = rows[np.repeat(np.arange(rows.height), times)]
    rows.write_csv(file, include_header=False, separator=separator, null_value=null)


def _times() -> pl.Expr:
    """Write times as ISO 8601 does, without zeros at the end of their seconds."""
    text = cs.datetime().dt.to_string("iso:strict")
    return text.str.replace(r"(\.\d*?)0+(\D|$)", "${1}${2}").str.replace(r"\.(\D|$)", "${1}")

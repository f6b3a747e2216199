"""Excel: one sheet, a row of names, and cells of their own types. No cell is ever a formula."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from incrowd.common.extras import needing_extra
from incrowd.common.records import dataclass
from incrowd.core.sink import Sink
from incrowd.errors import OutputError
from incrowd.hierarchies.values import as_days, as_text
from incrowd.publishing.sinks.held_types import Held

# Excel takes 1900 for a leap year, so the days before its March are counted in two ways.
_HELD = Held("an Excel workbook", program="Excel", first_date=date(1900, 3, 1), times=False, booleans=True)
_MOST_ROWS, _MOST_COLUMNS, _LONGEST_TEXT = 1_048_575, 16_384, 32_767
_ROWS_AT_ONCE = 10_000
_BLANK = " "
"""Stands in a row of nothing but missing values, which would otherwise be no row."""


@dataclass(frozen=True)
class XlsxSink(Sink):
    """A workbook of Excel."""

    name: ClassVar[str] = "xlsx"
    suffixes: ClassVar[tuple[str, ...]] = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
    extra: ClassVar[str | None] = "excel"

    def write(self, batches: Iterator[pl.DataFrame], path: Path, *, separator: str) -> None:
        """Write all rows into one sheet."""
        with needing_extra("excel", "Excel workbooks"):
            import xlsxwriter
            from xlsxwriter.exceptions import FileCreateError
            from xlsxwriter.worksheet import Worksheet

        class Exact(Worksheet):  # type: ignore[misc, unused-ignore]
            """A sheet whose numbers have all their digits: 17 instead of 16."""

            def _xml_number_element(self, number: float, attributes: Any = None) -> None:
                told = "".join(f' {key}="{value}"' for key, value in attributes or ())
                self.fh.write(f"<c{told}><v>{number!r}</v></c>")

        columns = pl.concat(list(batches)).get_columns()
        frame = _with_blanks(pl.DataFrame([_HELD.column(as_days(values)) for values in columns]))
        _require_room(frame)
        # Beside the file, in a place that vanishes with it: rows are kept there until the sheet is whole.
        options = {"constant_memory": True, "tmpdir": str(path.parent)}
        try:
            with xlsxwriter.Workbook(path, options) as book:
                _fill(book.add_worksheet("data", worksheet_class=Exact), frame, book)
        except FileCreateError as error:
            raise OutputError(f"the workbook cannot be written ({type(error.args[0]).__name__}).") from None


def _fill(sheet: Any, frame: pl.DataFrame, book: Any) -> None:
    """Write the names of columns, and row after row: Excel's format is one of rows."""
    writers = [_writer(sheet, dtype, book) for dtype in frame.dtypes]
    for place, name in enumerate(frame.columns):
        sheet.write_string(0, place, name)
    row = 1
    for piece in frame.iter_slices(_ROWS_AT_ONCE):
        for cells in piece.iter_rows():
            for place, cell in enumerate(cells):
                if cell is not None:
                    writers[place](row, place, cell)
            row += 1


def _writer(sheet: Any, dtype: pl.DataType, book: Any) -> Any:
    """Return what writes a cell: by its column's type, never by what a text looks like."""
    if dtype == pl.Boolean:
        return sheet.write_boolean
    if dtype.is_numeric():
        return sheet.write_number
    if dtype.is_temporal():
        shape = "yyyy-mm-dd" if dtype == pl.Date else "yyyy-mm-dd hh:mm:ss.000"
        format = book.add_format({"num_format": shape})
        return lambda row, place, cell: sheet.write_datetime(row, place, cell, format)
    return sheet.write_string


def _with_blanks(frame: pl.DataFrame) -> pl.DataFrame:
    """Put a blank into rows of nothing but missing values, in a column of texts, or one that becomes texts."""
    empty = frame.select(pl.all_horizontal(pl.all().is_null())).to_series() if frame.width else pl.Series([False])
    if not empty.any():
        return frame
    at = next((place for place, dtype in enumerate(frame.dtypes) if dtype == pl.String), 0)
    texts = as_text(frame.to_series(at))
    return frame.with_columns(
        pl.select(pl.when(empty).then(pl.lit(_BLANK)).otherwise(texts)).to_series().alias(texts.name)
    )


def _require_room(frame: pl.DataFrame) -> None:
    if frame.height > _MOST_ROWS or frame.width > _MOST_COLUMNS:
        raise OutputError(
            f"an Excel sheet holds {_MOST_ROWS:,} rows and {_MOST_COLUMNS:,} columns, and there are "
            f"{frame.height:,} and {frame.width:,}.  Hint: choose another format, such as parquet."
        )
    for column in frame.get_columns():
        if column.dtype == pl.String and (column.str.len_chars() > _LONGEST_TEXT).any():
            raise OutputError(f"column '{column.name}' holds texts of more than {_LONGEST_TEXT:,} characters.")

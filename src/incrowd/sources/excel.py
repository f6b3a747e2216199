"""Excel workbooks and OpenDocument spreadsheets, through fastexcel; the rows of one sheet come into memory.

A cell that is text stays text, also where it is all digits. A column of numbers alone is numbers, one of dates alone is
dates, and any other mixture becomes text. A row without any cell is no row.
"""

from __future__ import annotations

import logging
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import polars.selectors as cs

from incrowd.common.extras import needing_extra
from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.core.source import Location, OpenedTable, ReadOptions, Source
from incrowd.errors import EmptyTable, SourceError, did_you_mean
from incrowd.sources.content import require_memory
from incrowd.sources.normalize import opened_file, refuse_duplicates, require_readable_name
from incrowd.sources.stamps import watch
from incrowd.sources.whole_numbers import as_whole

_ZIP, _OLD = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
_PARTS = {"xl/workbook.xml", "xl/workbook.bin", "content.xml"}
_USED = ("sheet", "header_row")
_LOOKED_AT = 100
"""In so many rows there must be one that holds something."""


@dataclass(frozen=True)
class ExcelWorkbook(Source):
    """A sheet of a workbook."""

    name: ClassVar[str] = "excel"
    accepts: ClassVar[str] = "the path of an Excel workbook"
    suffixes: ClassVar[tuple[str, ...]] = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")

    def recognizes(self, location: Location) -> bool:
        """By the first bytes, and what is in the archive that a workbook is."""
        if location.path is None:
            return False
        old = location.head.startswith(_OLD)
        return old or (location.head.startswith(_ZIP) and _is_workbook(location.path))

    def open(self, location: Location, options: ReadOptions) -> OpenedTable:
        """Read the sheet that is asked for, or the only one that holds anything."""
        path = location.path
        assert path is not None
        options.refuse_all_but(_USED, f"{path}: this is a workbook")
        require_readable_name(path)
        unchanged = watch(path)
        if location.head.startswith(_ZIP):
            require_memory(_unpacked_size(path), f"{path}: unpacked, the workbook must be held in memory")
        with needing_extra("excel", "Excel workbooks"):
            import fastexcel
        # Otherwise it writes to the terminal about each column without a cell.
        logging.getLogger("fastexcel").addHandler(logging.NullHandler())
        try:
            book = fastexcel.read_excel(path)
            sheet = _chosen(book, options.sheet, path)
            frame = _rows(book, sheet, options.header_row, f"{path}: sheet '{sheet}'")
        except fastexcel.FastExcelError:
            raise SourceError(f"{path}: the workbook cannot be read.  Hint: it is damaged, or locked.") from None
        found = {"sheet": sheet, **({} if options.header_row is None else {"header_row": options.header_row})}
        opened = opened_file(frame.lazy(), path, options, in_memory=True, found=found, unchanged=unchanged)
        return replace(opened, found_out=() if options.sheet is not None else ("sheet",))


def _is_workbook(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return not _PARTS.isdisjoint(archive.namelist())
    except (zipfile.BadZipFile, OSError):
        return False


def _unpacked_size(path: Path) -> int:
    """Return how large the parts of a workbook say that they are: a small archive may hold an enormous one."""
    with zipfile.ZipFile(path) as archive:
        return sum(part.file_size for part in archive.infolist())


def _chosen(book: Any, asked: str | int | None, path: Path) -> str:
    """Return the name of the sheet to read."""
    names: list[str] = book.sheet_names
    if isinstance(asked, int):
        if not 1 <= asked <= len(names):
            raise SourceError(f"{path}: there is no sheet {asked}; the workbook has {len(names)}.")
        return names[asked - 1]
    if asked is not None:
        if asked not in names:
            raise SourceError(f"{path}: there is no sheet '{asked}'.{did_you_mean(asked, names)}")
        return asked
    filled = names if len(names) == 1 else [name for name in names if _head(book, name, 0, 1).width]
    if not filled:
        raise EmptyTable(f"{path}: no sheet of the workbook holds anything.")
    if len(filled) > 1:
        listed = ", ".join(f"'{name}'" for name in filled)
        raise SourceError(
            f"{path}: {len(filled)} sheets hold something: {listed}.  "
            f"Hint: state one with {option('sheet', section='source')}."
        )
    return filled[0]


def _head(book: Any, sheet: str, skipped: int, rows: int) -> pl.DataFrame:
    """Return some rows as texts."""
    found: pl.DataFrame = book.load_sheet(
        sheet, header_row=None, skip_rows=skipped, n_rows=rows, dtypes="string"
    ).to_polars()
    return found


def _rows(book: Any, sheet: str, header_row: int | None, where: str) -> pl.DataFrame:
    """Return what stands below the row of names: the one that is stated, or the first that holds anything."""
    head = _head(book, sheet, *((0, _LOOKED_AT) if header_row is None else (header_row - 1, 1)))
    filled = (
        head.with_row_index("\0row").filter(~pl.all_horizontal(cs.exclude("\0row").is_null())) if head.width else head
    )
    if not filled.height:
        named = "the first rows name" if header_row is None else f"row {header_row} names"
        raise EmptyTable(f"{where}: {named} no columns.  Hint: state the row that does with {_header_row()}.")
    at, *cells = filled.row(0)
    names = [str(cell or "").strip() for cell in cells]
    above = at + 1 if header_row is None else header_row
    frame = book.load_sheet(sheet, header_row=None, skip_rows=above, schema_sample_rows=None).to_polars()
    if not frame.width:
        frame = pl.DataFrame({f"c{at}": [] for at in range(len(names))})
    columns = frame.get_columns()
    named_columns = [
        (name, column) for name, column in zip(names, columns, strict=True) if name or not _is_blank(column)
    ]
    _require_names([name for name, _ in named_columns], where, _row_of_names(head) if header_row is None else None)
    read = pl.DataFrame([column.alias(name) for name, column in named_columns])
    if read.height:  # a row of blanks is a row, one without cells is none
        read = read.filter(~pl.all_horizontal(cs.all().is_null()))
    return pl.DataFrame([_typed(column) for column in read.get_columns()])


def _header_row() -> str:
    return option("header_row", section="source")


def _is_blank(column: pl.Series) -> bool:
    return column.null_count() == len(column)


def _row_of_names(head: pl.DataFrame) -> int | None:
    """Return the number of the first row in which every column has a text of its own, as names are."""
    for number, row in enumerate(head.iter_rows(), start=1):
        cells = [str(cell or "").strip() for cell in row]
        if len(cells) > 1 and all(cells) and len(set(cells)) == len(cells) and not any(map(_is_number, cells)):
            return number
    return None


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"[\d.,:/ -]+", text))


def _require_names(names: list[str], where: str, likely: int | None) -> None:
    stated = option("header_row", likely, section="source") if likely else _header_row()
    hint = f"Hint: name every column; or state the row that holds the names with {stated}."
    if "" in names:
        raise SourceError(f"{where}: column {names.index('') + 1} has cells and no name.  {hint}")
    refuse_duplicates(names, where)


def _typed(column: pl.Series) -> pl.Series:
    """Return whole numbers as such, and dates without times as dates: a workbook knows neither."""
    if column.dtype == pl.Datetime:
        known = column.drop_nulls()
        midnight = len(known) > 0 and bool((known.dt.truncate("1d") == known).all())
        return column.cast(pl.Date) if midnight else column.cast(pl.Datetime("us"))
    if column.dtype == pl.String:
        nameless = column.alias("")
        return nameless.set(nameless.str.strip_chars() == "", None).alias(column.name)
    return as_whole(column)

"""Workbooks: which sheet, which row names the columns, and what becomes of cells."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import xlsxwriter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.errors import EmptyTable, SourceError
from incrowd.sources import content, open_source, read_rows

Sheets = dict[str, Sequence[Sequence[object]]]
Write = Callable[[Sheets], Path]


@pytest.fixture
def workbook(tmp_path: Path) -> Write:
    def write(sheets: Sheets) -> Path:
        path = tmp_path / "people.xlsx"
        with xlsxwriter.Workbook(path, {"strings_to_formulas": False, "strings_to_urls": False}) as book:
            formats = [book.add_format({"num_format": shape}) for shape in ("yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss")]
            for name, rows in sheets.items():
                sheet = book.add_worksheet(name)
                for at, row in enumerate(rows):
                    for place, cell in enumerate(row):
                        if isinstance(cell, (date, datetime)):
                            sheet.write_datetime(at, place, cell, formats[isinstance(cell, datetime)])
                        elif isinstance(cell, str):
                            sheet.write_string(at, place, cell)
                        elif cell is not None:
                            sheet.write(at, place, cell)
        return path

    return write


PEOPLE = [["name", "age"], ["Ann", 34], ["Bo", 41]]


def test_types_of_cells(workbook: Write) -> None:
    rows = [
        ["whole", "part", "digits", "day", "time", "truth", "mixed", "never"],
        [1, 0.1, "007", date(1948, 2, 29), datetime(2020, 1, 2, 3, 4, 5), True, 1, None],
        [2**50, None, "=1+1", date(2020, 1, 1), None, False, "x", None],
    ]
    read = read_rows(open_source(workbook({"a": rows})))
    assert read.rows()[0] == (1, 0.1, "007", date(1948, 2, 29), datetime(2020, 1, 2, 3, 4, 5), True, "1", None)
    assert read.rows()[1] == (2**50, None, "=1+1", date(2020, 1, 1), None, False, "x", None)
    assert read.dtypes[:4] == [pl.Int64, pl.Float64, pl.String, pl.Date]


def test_the_only_sheet_that_holds_something_is_read(workbook: Write) -> None:
    opened = open_source(workbook({"empty": [], "people": PEOPLE}))
    assert read_rows(opened).rows() == [("Ann", 34), ("Bo", 41)]
    assert opened.description["sheet"] == "people"
    assert opened.found_out == ("sheet",)


def test_several_sheets_are_a_question(workbook: Write) -> None:
    path = workbook({"people": PEOPLE, "codes": [["a"], [1]]})
    with pytest.raises(SourceError, match=r"2 sheets hold something: 'people', 'codes'.*sheet="):
        open_source(path)
    assert open_source(path, sheet="codes").columns == ("a",)
    assert open_source(path, sheet=1).columns == ("name", "age")
    with pytest.raises(SourceError, match=r"no sheet 'peple'.*'people'"):
        open_source(path, sheet="peple")
    with pytest.raises(SourceError, match="no sheet 3; the workbook has 2"):
        open_source(path, sheet=3)


def test_header_row(workbook: Write) -> None:
    rows = [[], ["Patients of ward 3"], [], *PEOPLE, [], [None, None], ["Cy", None]]
    path = workbook({"a": rows})
    with pytest.raises(SourceError, match=r"column 2 has cells and no name.*header_row="):
        open_source(path)
    opened = open_source(path, header_row=4)
    assert read_rows(opened).rows() == [("Ann", 34), ("Bo", 41), ("Cy", None)]
    assert opened.description["header_row"] == 4
    with pytest.raises(EmptyTable, match="row 3 names no columns"):
        open_source(path, header_row=3)


def test_empty_rows_above_are_passed_over(workbook: Write) -> None:
    assert read_rows(open_source(workbook({"a": [[], [], *PEOPLE]}))).rows() == [("Ann", 34), ("Bo", 41)]


def test_names_only_and_nothing_at_all(workbook: Write) -> None:
    assert read_rows(open_source(workbook({"a": [["x", "y"]]}))).shape == (0, 2)
    with pytest.raises(EmptyTable):
        open_source(workbook({"a": []}))
    with pytest.raises(EmptyTable, match="no sheet"):
        open_source(workbook({"a": [], "b": []}))


def test_names_that_occur_twice(workbook: Write) -> None:
    with pytest.raises(SourceError, match="more than one column is named 'a'"):
        open_source(workbook({"s": [["a", "a"], [1, 2]]}))


def test_blank_columns_are_left_out(workbook: Write) -> None:
    assert open_source(workbook({"s": [["a", None, "b"], [1, None, 2]]})).columns == ("a", "b")


def test_open_document_spreadsheet(tmp_path: Path) -> None:
    cells = [["name", "age"], ["Ann", "34"]]
    spelt = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="string"><text:p>{cell}</text:p></table:table-cell>' for cell in row
        )
        + "</table:table-row>"
        for row in cells
    )
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    with zipfile.ZipFile(tmp_path / "a.ods", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        manifest = 'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"'
        archive.writestr("META-INF/manifest.xml", f"<manifest:manifest {manifest}></manifest:manifest>")
        archive.writestr(
            "content.xml",
            f'<?xml version="1.0"?><office:document-content {spaces}><office:body><office:spreadsheet>'
            f'<table:table table:name="s">{spelt}</table:table></office:spreadsheet></office:body>'
            "</office:document-content>",
        )
    assert read_rows(open_source(tmp_path / "a.ods")).rows() == [("Ann", "34")]


def test_a_damaged_workbook_is_called_that(workbook: Write) -> None:
    path = workbook({"a": PEOPLE})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<nothing>")
    with pytest.raises(SourceError, match="the workbook cannot be read"):
        open_source(path)


def test_the_row_that_looks_like_names_is_told(workbook: Write) -> None:
    titled = [["Report 2024", None], [None, None], ["as of", "2024-12-31"], ["age", "sex"], [30, "F"], [31, "M"]]
    with pytest.raises(SourceError, match=r"column 2 has cells and no name.*header_row=4\."):
        open_source(workbook({"s": titled}))
    assert read_rows(open_source(workbook({"s": titled}), header_row=4)).columns == ["age", "sex"]


@pytest.mark.parametrize("options", [{"sheet": True}, {"sheet": 1.5}, {"header_row": 0}, {"header_row": "1"}])
def test_odd_options(workbook: Write, options: dict[str, Any]) -> None:
    with pytest.raises(SourceError, match=r"sheet=|header_row="):
        open_source(workbook({"a": PEOPLE}), **options)


CELLS = {
    "text": st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=5).filter(str.strip),
    "digits": st.from_regex(r"0[0-9]{1,5}", fullmatch=True),
    "whole": st.integers(-(2**53), 2**53),
    "part": st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False, width=32).map(lambda x: x + 0.5),
    "day": st.dates(date(1900, 3, 1), date(2200, 1, 1)),
}


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), kinds=st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=4))
def test_generated_cells_keep_their_type(workbook: Write, data: st.DataObject, kinds: list[str]) -> None:
    rows = data.draw(st.integers(1, 6))
    columns = [[data.draw(st.one_of(st.none(), CELLS[kind])) for _ in range(rows)] for kind in kinds]
    table = [list(row) for row in zip(*columns, strict=True) if any(cell is not None for cell in row)]
    read = read_rows(open_source(workbook({"s": [[f"c{at}" for at in range(len(kinds))], *table]})))
    assert read.height == len(table)
    for at, kind in enumerate(kinds):
        wanted, found = [row[at] for row in table], read[f"c{at}"].to_list()
        if kind == "part":  # a workbook of XlsxWriter has 16 digits
            assert [x if x is None else pytest.approx(x) for x in wanted] == found
        else:
            assert found == wanted


def test_a_small_workbook_that_unpacks_to_an_enormous_one_is_refused(
    workbook: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = workbook({"a": PEOPLE})
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/bomb.bin", bytes(20_000_000))
    assert path.stat().st_size < 100_000
    assert read_rows(open_source(path)).height == 2
    monkeypatch.setattr(content, "memory_limit", lambda: 20_000_000)
    with pytest.raises(SourceError, match=r"people\.xlsx: unpacked, .* half of the memory"):
        open_source(path)

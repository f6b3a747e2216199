"""Whatever Python's csv module writes is read back as it was."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.sources import open_source

NASTY = st.sampled_from(
    [
        "",
        "007",
        "1.50",
        " x",
        "x ",
        ",",
        ";",
        "\t",
        "|",
        '"',
        '""',
        'a"b',
        "'",
        "l\nm",
        "l\r\nm",
        "\n",
        "é€😀",
        "\u2028",
        "NA",
    ]
)
# Half of a surrogate pair cannot be written in UTF-8, and a zero byte is an error of its own. Polars takes a byte order
# mark off the first cell too, not only off the file.
TEXT = st.text(st.characters(exclude_characters="\0\ufeff", exclude_categories=["Cs"]), max_size=8)
NAMES = st.lists(st.text("abcXYZ_é", min_size=1, max_size=4), min_size=1, max_size=5, unique=True)


def written(names: list[str], rows: list[list[str]], **dialect: object) -> bytes:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, **dialect)
    writer.writerow(names)
    writer.writerows(rows)
    return buffer.getvalue().encode()


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@given(names=NAMES, data=st.data(), quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_round_trip(tmp_path: Path, separator: str, names: list[str], data: st.DataObject, quoting: int) -> None:
    row = st.lists(st.one_of(NASTY, TEXT), min_size=len(names), max_size=len(names))
    rows = data.draw(st.lists(row, max_size=12))
    path = tmp_path / "table.csv"
    path.write_bytes(written(names, rows, delimiter=separator, quoting=quoting))
    source = open_source(path, separator=separator, quote='"')
    # A table in which every value after the first begins with a space is taken for one that is padded with spaces.
    padded = quoting == csv.QUOTE_MINIMAL and rows and all(v[:1] in (" ", "") for row in rows for v in row[1:])
    expected = [tuple((v.lstrip(" ") if padded else v) or None for v in row) for row in rows]
    read = source.frame.collect()
    if padded:
        read = read.with_columns(pl.all().str.strip_chars_start(" "))
        read = read.with_columns(pl.when(pl.all() != "").then(pl.all()))
    assert source.columns == tuple(names)
    assert read.rows() == expected


@given(
    names=st.lists(st.sampled_from(["age", "sex", "zip", "work", "sick"]), min_size=2, max_size=5, unique=True),
    data=st.data(),
)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_round_trip_with_everything_found_out(
    tmp_path: Path, separator: str, names: list[str], data: st.DataObject
) -> None:
    value = st.text("abc019éß-", min_size=1, max_size=6)
    row = st.lists(value, min_size=len(names), max_size=len(names))
    rows = data.draw(st.lists(row, min_size=1, max_size=12))
    path = tmp_path / "table.csv"
    path.write_bytes(written(names, rows, delimiter=separator))
    source = open_source(path)
    assert source.columns == tuple(names)
    assert source.frame.collect().rows() == [tuple(row) for row in rows]

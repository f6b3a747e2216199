"""Years of dates and beginnings of codes, against the simplest code that does the same."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.changes.change import Change, Column
from incrowd.errors import RecipeError, SchemaError


def changed(change: Change, values: list[object], dtype: pl.DataType | None = None) -> list[object]:
    series = pl.Series(values, dtype=dtype)
    return change.recode(Column("x", series, np.arange(len(series)), np.ones(len(series), dtype=np.int64))).to_list()


def naive_beginning(value: str, sparse: tuple[str, ...]) -> str:
    """Five digits, alone, before a dash, or with four more; shorter numbers lost zeros."""
    code = value.strip()
    if code.isascii() and code.isdigit():
        code = "0" * (5 - len(code)) + code
    main, dash, _ = code.partition("-")
    right = main.isascii() and main.isdigit() and (len(main) == 5 or (len(main) == 9 and not dash))
    return code[:3] if right and code[:3] not in sparse else "000"


@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.lists(st.text("0369-A ", min_size=1, max_size=11), min_size=1, max_size=20, unique=True))
def test_zip_codes_are_cut_as_a_loop_does_it(values: list[str]) -> None:
    sparse = ("036", "063")
    change = ic.FirstCharacters(3, digits=5, exceptions=sparse)
    assert changed(change, list(values)) == [naive_beginning(value, sparse) for value in values]


def test_zip_codes_that_are_numbers() -> None:
    change = ic.FirstCharacters(3, digits=5, exceptions=("036",))
    assert changed(change, [501, 3601, 10115, 123456, 941101234]) == ["005", "000", "101", "000", "941"]
    assert changed(change, [3601.0, 10115.0]) == ["000", "101"]
    assert changed(change, [], pl.String()) == []


def test_any_text_is_cut() -> None:
    assert changed(ic.FirstCharacters(2), ["a", "ab", "abc"]) == ["a", "ab", "ab"]
    assert changed(ic.FirstCharacters(2, exceptions=("ab",), shown="?"), ["ab", "abc", "b"]) == ["?", "?", "b"]


def test_years_of_dates_and_numbers() -> None:
    days = [date(1936, 12, 31), date(1937, 1, 1), date(2020, 5, 5)]
    assert changed(ic.Year(), list(days)) == [1936, 1937, 2020]
    assert changed(ic.Year(1937), list(days)) == ["1936 or before", "1937", "2020"]
    assert changed(ic.Year(1937), [datetime(1900, 1, 1, 5), datetime(2000, 1, 1)]) == ["1936 or before", "2000"]
    assert changed(ic.Year(1937), [1900, 1937]) == ["1936 or before", "1937"]


@pytest.mark.parametrize("values", [[19500131], [0], ["January"], [1.5]])
def test_what_is_no_date_is_refused_and_not_quoted(values: list[object]) -> None:
    with pytest.raises(SchemaError, match="is for dates") as refused:
        changed(ic.Year(), values)
    assert str(values[0]) not in str(refused.value)


def test_parameters_are_checked() -> None:
    with pytest.raises(RecipeError, match="each of the exceptions has 3 characters"):
        ic.FirstCharacters(3, exceptions=("36",))
    with pytest.raises(RecipeError, match="digits is a whole number of at least 3"):
        ic.FirstCharacters(3, digits=2)
    with pytest.raises(RecipeError, match="not_before is a whole number"):
        ic.Year(36)


def test_missing_values_stay_missing_in_the_files(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {
            "sex": ["F", "M"] * 10,
            "zip": ["03601", None, "10115", "10115"] * 5,
            "born": ["1930-01-05", "1950-02-03", None, "1950-02-04"] * 5,
        }
    )
    changes = {"zip": ic.FirstCharacters(3, digits=5, exceptions=("036",)), "born": ic.Year(1937)}
    read = ic.read(table, quasi=["sex"], keep=["zip", "born"], changes=changes)
    ic.publish(read, ic.KAnonymity(2)).save(tmp_path / "release")
    rows = ic.open_release(tmp_path / "release").to_polars().select("zip", "born").cast(pl.String)
    assert sorted(map(str, rows.rows())) == sorted(
        map(str, [("000", "1936 or before"), (None, "1950"), ("101", None), ("101", "1950")] * 5)
    )

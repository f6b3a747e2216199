"""What values are: numbers, dates or names, and the code of each."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.hierarchies.values import (
    FEW,
    as_bound,
    as_dates,
    as_numbers,
    as_points,
    as_short_text,
    as_text,
    code_among,
    code_values,
    natural_kind,
    one_spelling,
)
from tests.any_text import any_text
from tests.hierarchies.grown import CHECKED

DIGITS = ("0.12345678901234567801", "0.12345678901234567802")
ODD_TEXTS = ("+5", " 7", "05", "1e3", "inf", "i", "z5", "\uff11\uff12", "")
columns = (
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)).map(lambda found: pl.Series(found, dtype=pl.Int64))
    | st.lists(st.none() | st.floats(allow_nan=False)).map(lambda found: pl.Series(found, dtype=pl.Float64) + 0.0)
    | st.lists(st.none() | any_text(3)).map(lambda found: pl.Series(found, dtype=pl.String))
    | st.lists(st.none() | st.booleans()).map(lambda found: pl.Series(found, dtype=pl.Boolean))
    | st.lists(st.none() | st.dates()).map(lambda found: pl.Series(found, dtype=pl.Date))
    | st.lists(st.none() | st.decimals(-999, 999, places=2)).map(
        lambda found: pl.Series(found, dtype=pl.Decimal(10, 2))
    )
)


@CHECKED
@given(columns)
def test_codes_find_the_values_again_in_order(values: pl.Series) -> None:
    distinct, codes = code_values(values)
    found = distinct.to_list()
    assert found == sorted(found)
    assert len(set(found)) == len(found)
    assert [None if code == 0 else found[code - 1] for code in codes] == values.to_list()


def test_a_value_that_is_not_there_has_the_code_minus_one() -> None:
    codes = code_among(pl.Series(["b", None, "x"]), pl.Series(["a", "b"]))
    assert codes.tolist() == [2, 0, -1]


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["1", " 2 ", None], [1, 2, None]),
        (["1", "2.5"], [1.0, 2.5]),
        (["1", "two"], None),
        (["-3", "+4"], [-3, 4]),
        (["1.5", "nan"], [1.5, None]),
        ([1.5, float("nan")], [1.5, None]),
        ([Decimal("1.10")], [Decimal("1.10")]),
        (["0.12345678901234567801", "0.12345678901234567802"], [*map(Decimal, DIGITS)]),
        (["0.30000000000000004", "0.1"], [0.30000000000000004, 0.1]),  # as many digits as floats are written with
        ([True], None),
        ([date(1970, 1, 2)], None),
        ([9007199254740993, 1], [9007199254740993, 1]),
        (["9007199254740993"], [9007199254740993]),
    ],
)
def test_numbers(values: list, numbers: list | None) -> None:
    found = as_numbers(pl.Series(values))
    assert (None if found is None else found.to_list()) == numbers


@pytest.mark.parametrize(
    ("values", "dates"),
    [
        (["1969-12-31", None], [date(1969, 12, 31), None]),
        (["1969-12-31 23:59:00"], [datetime(1969, 12, 31, 23, 59)]),
        (["1969-12-31T23:59:00"], [datetime(1969, 12, 31, 23, 59)]),
        (["1969-12-31", "soon"], None),
        (["1969-13-31"], None),
        (["a"], None),
        ([5], None),
        ([date(1, 1, 1)], [date(1, 1, 1)]),
    ],
)
def test_dates(values: list, dates: list | None) -> None:
    found = as_dates(pl.Series(values))
    assert (None if found is None else found.to_list()) == dates


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([3.0, 3.5, None, -0.25], ["3", "3.5", None, "-0.25"]),
        ([float("inf")], ["inf"]),
        ([7, None], ["7", None]),
        ([True], ["true"]),
        ([date(1969, 12, 31)], ["1969-12-31"]),
        ([timedelta(days=1, seconds=2)], ["P1DT2S"]),
        ([Decimal("1.10")], ["1.10"]),
        (["3.0"], ["3.0"]),  # text is never touched
    ],
)
def test_texts(values: list, texts: list) -> None:
    assert as_text(pl.Series(values)).to_list() == texts


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (["39", "39.0"], pl.Float64),
        (["39"], pl.Int64),
        (["007", "8"], pl.String),
        ([" 007", "8"], pl.String),
        (["0", "0.5"], pl.Float64),
        (["1.5", "inf"], pl.String),  # a name that floats happen to know
        (["99999999999999999999", "1"], pl.String),
        (["9007199254740993", "1.5"], pl.String),  # a float would change it
        (["1969-12-31"], pl.Date),
        ([None, None], pl.String),
        ([Decimal("1.10")], pl.Decimal(38, 2)),
        (["0.12345678901234567801", "0.12345678901234567802"], pl.Decimal(38, 20)),
        (["0.30000000000000004", "0.1"], pl.Float64),
        ([True], pl.String),
    ],
)
def test_the_kind_that_values_look_like(values: list, dtype: pl.DataType) -> None:
    assert natural_kind(pl.Series(values, dtype=pl.String if values[0] is None else None)).dtype == dtype


@pytest.mark.parametrize("others", [[], ["n/a"], ["01234"], ["n/a", "01234", "9" * 30]])
def test_one_number_is_one_value_whatever_else_a_column_holds(others: list) -> None:
    found = natural_kind(pl.Series(["5", "5.0", "5.00", "+5", "6", *others]))
    assert found[:4].n_unique() == 1
    assert found.n_unique() == 2 + len(others)


@given(st.lists(st.none() | st.integers(-60, 60).map(str) | st.sampled_from(ODD_TEXTS), min_size=1, max_size=3))
@CHECKED
def test_few_texts_are_told_as_many_are(texts: list[str | None]) -> None:
    few = pl.Series(texts, dtype=pl.String)
    assert natural_kind(few).equals(natural_kind(pl.Series(texts * (FEW + 1), dtype=pl.String)).head(len(few)))


@pytest.mark.parametrize(
    ("texts", "spelled"),
    [
        (["5", "5.0", "n/a", None], ["5", "5", "n/a", None]),
        (["250.00", "V10"], ["250.00", "V10"]),  # a code keeps its zeros where no other spelling is there
        (["05", "5", "5.0"], ["05", "5", "5"]),  # a leading zero says something
        (["1e3", "1000.0", "x"], ["1e3", "1e3", "x"]),
        (["-0", "0", "0.0", "x"], ["0", "0", "0", "x"]),
        ([DIGITS[0], DIGITS[1], DIGITS[0] + "0", "x"], [DIGITS[0], DIGITS[1], DIGITS[0], "x"]),
        (["inf", "Infinity", "nan", "NaN"], ["inf", "Infinity", "nan", "NaN"]),  # words
    ],
)
def test_numbers_among_text_have_one_spelling(texts: list, spelled: list) -> None:
    assert one_spelling(pl.Series(texts)).to_list() == spelled


def test_labels_write_decimals_short_and_exactly() -> None:
    decimals = pl.Series([Decimal("5.50"), Decimal("5.00"), None, Decimal("100.00")])
    assert as_short_text(decimals).to_list() == ["5.5", "5", None, "100"]
    assert as_short_text(pl.Series([Decimal(100)])).to_list() == ["100"]


def test_a_bound_for_decimals_is_exact() -> None:
    values = pl.Series([*map(Decimal, DIGITS)])
    assert (values >= as_bound(DIGITS[1], values.dtype)).to_list() == [False, True]
    assert as_bound("x", values.dtype) is None
    assert as_bound("9" * 50, values.dtype) is None


@pytest.mark.parametrize(("kind", "start"), [(pl.UInt64, 2**63), (pl.Int128, -(2**100)), (pl.Int64, 2**60)])
def test_a_bound_for_whole_numbers_is_exact(kind: pl.DataType, start: int) -> None:
    values = pl.Series([start, start + 1], dtype=kind)
    assert (values >= as_bound(str(start + 1), values.dtype)).to_list() == [False, True]
    assert (values < as_bound("0.5", values.dtype)).to_list() == [start < 0] * 2


def test_decimals_stay_on_their_side_of_a_bound() -> None:
    near = [Decimal("-10.00000000000000000001"), Decimal("-9.99999999999999999999"), Decimal("9.99999999999999999999")]
    low, middle, high = as_points(pl.Series(near))
    assert low < -10 <= middle
    assert high < 10

"""A cut between two neighbours separates them, is round, and is seldom anybody's own value."""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from incrowd.hierarchies.cuts import cut_texts, cuts_below
from tests.hierarchies.grown import CHECKED

whole = st.integers(-(2**63), 2**63 - 1)
floats = st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0)
decimals = st.integers(-(10**6), 10**6).map(lambda number: number / 100)
days = st.dates(date(1, 1, 1), date(9999, 12, 31))
moments = st.datetimes(datetime(1800, 1, 1), datetime(2200, 1, 1))


def neighbours(values: st.SearchStrategy) -> st.SearchStrategy[list]:
    return st.lists(values, min_size=2, max_size=6, unique=True).map(sorted)


@CHECKED
@given(
    neighbours(whole | st.integers(-200, 200)) | neighbours(floats | decimals) | neighbours(days) | neighbours(moments)
)
@example([-(2**63), -(2**63) + 1, 2**63 - 1])
@example([2**53, 2**53 + 1])
@example([0.1, 0.2, 0.1 + 0.2])
@example([-1.7e308, 1.7e308])
@example([date(1969, 12, 31), date(1970, 1, 1)])
def test_a_cut_is_above_the_lower_and_not_above_the_upper_neighbour(values: list) -> None:
    cuts = cuts_below(pl.Series(values)).to_list()
    assert cuts[0] is None
    for lower, cut, upper in zip(values, cuts[1:], values[1:], strict=False):
        assert lower < cut <= upper


@CHECKED
@given(neighbours(whole | st.integers(-200, 200)))
@example([-12, -9])
def test_a_cut_between_whole_numbers_is_no_longer_than_its_neighbours(values: list[int]) -> None:
    for lower, cut, upper in zip(values, cut_texts(pl.Series(values)).to_list()[1:], values[1:], strict=False):
        longest = upper if lower >= 0 else max(lower, upper, key=lambda number: len(str(number)))
        assert len(cut) <= len(str(longest))


@CHECKED
@given(neighbours(decimals.filter(lambda number: number >= 0)))
def test_a_cut_between_short_fractions_is_no_longer_than_the_upper_one(values: list[float]) -> None:
    for cut, upper in zip(cut_texts(pl.Series(values)).to_list()[1:], values[1:], strict=True):
        assert len(cut) <= len(repr(upper))


@CHECKED
@given(neighbours(floats | decimals))
def test_the_text_of_a_cut_separates_too(values: list[float]) -> None:
    for lower, cut, upper in zip(values, cut_texts(pl.Series(values)).to_list()[1:], values[1:], strict=False):
        assert Fraction(lower) < Fraction(float(cut)) <= Fraction(upper)


@pytest.mark.parametrize(
    ("lower", "upper", "cut"),
    [
        (36.2, 41.7, "40"),
        (0.11, 0.19, "0.19"),  # nothing rounder fits between
        (0.18, 0.21, "0.2"),
        (19, 20, "20"),
        (3, 8, "5"),
        (99, 1234, "1000"),
        (-12, -9, "-10"),
        (-3, 4, "0"),
        (2**53, 2**53 + 1, str(2**53 + 1)),  # beyond what a float can tell apart
        (math.inf * -1, 5.0, "5"),
        (5.0, math.inf, "inf"),
        (date(1987, 11, 3), date(1988, 2, 14), "1988-01-01"),
        (date(1955, 3, 1), date(1961, 2, 3), "1960-01-01"),  # a decade, before 1970 too
        (date(1988, 2, 13), date(1988, 2, 14), "1988-02-14"),
        (datetime(1988, 2, 14, 9, 50), datetime(1988, 2, 14, 10, 7), "1988-02-14 10:00:00"),
    ],
)
def test_the_roundest_cut(lower: object, upper: object, cut: str) -> None:
    assert cut_texts(pl.Series([lower, upper])).to_list() == [None, cut]


def test_there_is_no_cut_below_the_first_value_nor_at_missing() -> None:
    assert cut_texts(pl.Series([None, 1, 30])).to_list() == [None, None, "30"]


@pytest.mark.parametrize("dtype", [pl.UInt64, pl.Int128])
def test_numbers_beyond_64_bits_are_cut_at_themselves(dtype: pl.DataType) -> None:
    assert cut_texts(pl.Series([5, 2**64 - 1], dtype=dtype)).to_list() == [None, str(2**64 - 1)]


def test_no_values_have_no_cuts() -> None:
    assert cut_texts(pl.Series([], dtype=pl.Float64)).to_list() == []


def test_a_cut_separates_decimals_that_floats_cannot() -> None:
    digits = ["0.12345678901234567801", "0.12345678901234567802", "36.2", "41.7"]
    values = pl.Series([*map(Decimal, digits)], dtype=pl.Decimal(38, 20))
    assert cut_texts(values).to_list() == [None, "0.12345678901234567802", "30", "40"]

"""Flat trees order values by what they are; exact ones keep how they are written."""

from __future__ import annotations

from datetime import date, time, timedelta
from decimal import Decimal

import polars as pl
import pytest

from incrowd.hierarchies.flat import Exact, Flat
from incrowd.hierarchies.hierarchy import Hierarchy


@pytest.mark.parametrize(
    ("values", "kind", "order"),
    [
        ([9, 10, None], "number", ["9", "10"]),
        (["9", "10"], "number", ["9", "10"]),
        (["-5", "3", "-0.5"], "number", ["-5", "-0.5", "3"]),
        (["9", "x", "10"], "text", ["10", "9", "x"]),
        (["09", "10", "9"], "text", ["09", "10", "9"]),  # a code, not a number
        ([date(1969, 5, 1), date(1960, 1, 1)], "date", ["1960-01-01", "1969-05-01"]),
        ([True, False], "text", ["false", "true"]),
        (["Zürich", "東京", "*"], "text", ["*", "Zürich", "東京"]),
        ([None], "text", []),
    ],
)
def test_values_are_ordered_by_what_they_are(values: list, kind: str, order: list[str]) -> None:
    tree, codes = Flat().build("x", pl.Series(values))
    assert (tree.kind, tree.names[0].to_list()) == (kind, [None, *order])
    assert (tree.height, tree.from_data) == (1, True)
    assert [code == 0 for code in codes] == [value is None for value in values]


def test_two_spellings_of_a_number_are_one_value() -> None:
    for hierarchy in (Flat(), Exact()):
        tree, codes = hierarchy.build("age", pl.Series(["39", "39.0", " 39", "3.9e1", "40"]))
        assert codes.tolist() == [1, 1, 1, 1, 2]
        assert tree.names[0].to_list() == [None, "39", "40"]


def test_exact_publishes_the_shortest_spelling_that_is_there() -> None:
    tree, _ = Exact().build("dose", pl.Series(["1.50", "1.500", "007.0x"]))
    assert tree.values.to_list() == [None, "007.0x", "1.50"]  # one number, though another cell is none
    tree, _ = Exact().build("dose", pl.Series(["1.500", "1.50", "2.0"]))
    assert tree.values.to_list() == [None, "1.50", "2.0"]


def test_long_numbers_stay_apart() -> None:
    accounts = ["99999999999999999999", "99999999999999999998", "1"]
    tree, codes = Exact().build("account", pl.Series(accounts))
    assert tree.values.to_list() == [None, *sorted(accounts)]
    assert sorted(codes.tolist()) == [1, 2, 3]
    large = pl.Series([2**62, 2**62 + 1])
    assert Exact().build("account", large)[0].values.to_list() == [None, 2**62, 2**62 + 1]


@pytest.mark.parametrize(
    "values",
    [
        pl.Series([True, False, None]),
        pl.Series([Decimal("1.10"), Decimal("2.00")]),
        pl.Series([time(1, 2), time(23, 59)]),
        pl.Series([timedelta(days=1), timedelta(hours=2)]),
        pl.Series([date(1960, 1, 1), date(1988, 2, 14)]),
        pl.Series([1.5, 2.0]),
        pl.Series([2**63], dtype=pl.UInt64),
        pl.Series([2**70], dtype=pl.Int128),
        pl.Series(["b", "a"]),
    ],
    ids=lambda values: str(values.dtype),
)
def test_exact_keeps_values_and_their_type(values: pl.Series) -> None:
    tree, codes = Exact().build("x", values)
    assert tree.values.dtype == values.dtype
    assert tree.values.gather(codes).to_list() == values.to_list()


def test_exact_takes_empty_text_for_missing_as_a_file_would() -> None:
    tree, codes = Exact().build("x", pl.Series(["", None, "a"]))
    assert codes.tolist() == [0, 0, 1]
    assert tree.size == 2


def test_not_a_number_is_missing() -> None:
    for hierarchy in (Flat(), Exact()):
        assert hierarchy.build("x", pl.Series([float("nan"), 1.0, None]))[1].tolist() == [0, 1, 0]


@pytest.mark.parametrize("hierarchy", [Flat(), Exact()])
def test_a_word_in_a_column_does_not_make_two_values_of_one_number(hierarchy: Hierarchy) -> None:
    values = pl.Series(["5", "5.0", "7.50", "n/a", "01", "1", None])
    tree, codes = hierarchy.build("x", values)
    assert tree.values.to_list() == [None, "01", "1", "5", "7.50", "n/a"]
    assert codes.tolist() == [3, 3, 4, 5, 1, 2, 0]


@pytest.mark.parametrize("hierarchy", [Flat(), Exact()])
def test_every_digit_of_a_decimal_counts(hierarchy: Hierarchy) -> None:
    digits = [f"0.123456789012345678{number:02}" for number in range(60)]
    for values in (pl.Series(digits), pl.Series(digits).cast(pl.Decimal(38, 20))):
        tree, codes = hierarchy.build("x", values)
        assert codes.tolist() == list(range(1, 61))
        assert tree.names[0][1:].str.pad_end(22, "0").to_list() == digits

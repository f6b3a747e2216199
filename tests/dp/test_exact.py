"""Exact numbers: what the user wrote, and fractions that fit."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from incrowd.common.exact import as_exact
from incrowd.dp.exact import round_digits, round_down
from incrowd.errors import RecipeError


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (0.1, Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        (" 1/3 ", Fraction(1, 3)),
        (3, Fraction(3)),
        ("1e-6", Fraction(1, 10**6)),
        (1e-6, Fraction(1, 10**6)),
        (Decimal("0.25"), Fraction(1, 4)),
        (Fraction(2, 7), Fraction(2, 7)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.int64(4), Fraction(4)),
        ("-0.5", Fraction(-1, 2)),
        (0, Fraction(0)),
    ],
)
def test_a_number_is_what_was_written(written: object, meant: Fraction) -> None:
    assert as_exact(written, "it") == meant  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [float("nan"), float("inf"), "-inf", "", "a tenth", None, True, "1/0", "1e999999999", "1e-999999999", "1" * 1000],
)
def test_what_is_no_number_is_refused(wrong: object) -> None:
    with pytest.raises(RecipeError, match="it is a number"):
        as_exact(wrong, "it")  # type: ignore[arg-type]


@pytest.mark.parametrize("extreme", ["1e301", "1e-301", Fraction(1, 10**400), Fraction(10**400)])
def test_what_no_float_can_hold_is_refused(extreme: str | Fraction) -> None:
    with pytest.raises(RecipeError, match="digits"):
        as_exact(extreme, "it")


def naive_round_down(number: Fraction, most: int, parts: int) -> Fraction:
    return max(Fraction(min(int(number * part), most), part) for part in range(1, parts + 1))


positive = st.fractions(min_value=0, max_value=1000, max_denominator=10**9)


@given(positive, st.integers(1, 60), st.integers(1, 60))
@example(Fraction(61, 1), 60, 60)
@example(Fraction(1, 61), 60, 60)
@example(Fraction(59, 60), 60, 59)
def test_rounding_down_finds_the_largest_that_fits(number: Fraction, most: int, parts: int) -> None:
    rounded = round_down(number, max_numerator=most, max_denominator=parts)
    assert rounded == naive_round_down(number, most, parts)


@given(st.fractions(min_value=Fraction(1, 2**39), max_value=2**39))
def test_rounding_down_to_forty_bits_loses_next_to_nothing(number: Fraction) -> None:
    rounded = round_down(number, max_numerator=2**40, max_denominator=2**40)
    assert max(rounded.numerator, rounded.denominator) <= 2**40
    assert 0 <= number - rounded <= number / 2**39


def test_only_what_is_not_negative_is_rounded() -> None:
    with pytest.raises(ValueError, match="negative"):
        round_down(Fraction(-1), max_numerator=2, max_denominator=2)


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9))
def test_digits_are_rounded_to_the_side_that_is_asked_for(number: Fraction) -> None:
    low, high = round_digits(number, 15, ROUND_FLOOR), round_digits(number, 15, ROUND_CEILING)
    assert low <= number <= high
    assert high - low <= number / 10**14


@pytest.mark.parametrize(
    "number", [10**5000, Fraction(10**900 + 1, 10**900), Decimal("1e-999999"), "1e999999999"], ids=["a", "b", "c", "d"]
)
def test_numbers_that_could_not_be_written_again_are_refused(number: int | Fraction | Decimal | str) -> None:
    with pytest.raises(RecipeError, match="ε is a number"):
        as_exact(number, "ε")

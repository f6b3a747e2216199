"""Rounding, coding and banding against the simplest code that does the same."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.changes.change import Change, Column
from incrowd.errors import RecipeError, SchemaError


def column(values: list[object], counts: list[int] | None = None, hierarchy: object = None) -> Column:
    """A column with each of these values, which come sorted and distinct."""
    many = counts or [1] * len(values)
    return Column("x", pl.Series(values), np.arange(len(values)), np.array(many, dtype=np.int64), hierarchy)  # type: ignore[arg-type]


def changed(change: Change, values: list[object], **more: object) -> list[object]:
    return change.recode(column(values, **more)).to_list()  # type: ignore[arg-type]


@settings(max_examples=10, deadline=None, derandomize=True)
@given(
    st.lists(st.integers(-(2**60), 2**60), min_size=1, max_size=20, unique=True),
    st.sampled_from([1, 2, 3, 7, 10, 50, 1000, 2**30]),
)
def test_whole_numbers_are_rounded_exactly(values: list[int], base: int) -> None:
    values = sorted(values)
    naive = [math.floor(Fraction(value, base) + Fraction(1, 2)) * base for value in values]
    assert changed(ic.Rounding(base), list(values)) == naive


def test_fractions_are_rounded_without_a_tail() -> None:
    assert changed(ic.Rounding(0.1), [-0.25, 0.0, 0.12, 0.3000001, 1.26]) == [-0.2, 0.0, 0.1, 0.3, 1.3]
    assert changed(ic.Rounding(0.25), [0.1, 0.2, 7.9]) == [0.0, 0.25, 8.0]
    assert changed(ic.Rounding(0.5), [1, 2]) == [1.0, 2.0]


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.lists(st.integers(-50, 50), min_size=1, max_size=30, unique=True), st.integers(-60, 60))
def test_ends_are_coded_as_a_loop_does_it(values: list[int], threshold: int) -> None:
    values = sorted(values)
    assert changed(ic.TopCoding(threshold), list(values)) == [min(value, threshold) for value in values]
    assert changed(ic.BottomCoding(threshold), list(values)) == [max(value, threshold) for value in values]
    labels = [f">={threshold}" if value >= threshold else str(value) for value in values]
    assert changed(ic.TopCoding(threshold, shown="label"), list(values)) == labels
    labels = [f"<={threshold}" if value <= threshold else str(value) for value in values]
    assert changed(ic.BottomCoding(threshold, shown="label"), list(values)) == labels


def test_the_mean_of_those_beyond_is_shown_to_three_digits_and_of_ten_at_least() -> None:
    values, counts = [1, 2, 1000, 1001, 1234], [30, 30, 8, 1, 1]
    mean = float(f"{(8 * 1000 + 1001 + 1234) / 10:.3g}")
    assert changed(ic.TopCoding(1000, shown="mean"), list(values), counts=counts) == [1, 2, mean, mean, mean]
    with pytest.raises(SchemaError, match="fewer than 10 people"):
        changed(ic.TopCoding(1001, shown="mean"), list(values), counts=counts)
    assert ic.TopCoding(1000, shown="mean").told(column(list(values), counts)) == {"threshold": 1000.0, "shown": mean}
    assert changed(ic.TopCoding(5000, shown="mean"), list(values), counts=counts) == values, "nobody is beyond"
    assert changed(ic.BottomCoding(2, shown="mean"), list(values), counts=counts)[:2] == [2, 2], "whole, not 1.5"


@pytest.mark.parametrize("share", [0.01, 0.05, 0.3, 0.9])
def test_a_threshold_from_the_table_hides_enough_people_and_is_no_extreme_value(share: float) -> None:
    rng = np.random.default_rng(5)
    numbers = np.sort(np.unique(np.rint(rng.lognormal(8, 1.2, size=400)).astype(np.int64)))
    counts = rng.integers(1, 4, size=len(numbers)).tolist()
    seen = column(numbers.tolist(), counts)
    people, total = np.array(counts), sum(counts)
    top, bottom = ic.TopCoding(share=share), ic.BottomCoding(share=share)
    above, below = top.threshold(seen), bottom.threshold(seen)
    enough = max(math.ceil(share * total), 10)
    assert enough <= people[numbers >= above].sum() < total
    assert enough <= people[numbers <= below].sum() < total
    # The next rounder or larger threshold would hide fewer: as few are changed as can be.
    later = numbers[numbers >= above][0]
    assert people[numbers > later].sum() < enough
    assert max(changed(top, numbers.tolist(), counts=counts)) == above
    assert min(changed(bottom, numbers.tolist(), counts=counts)) == below


def test_a_threshold_that_hides_nobody_or_everybody_is_refused() -> None:
    for values, counts in (([5], [100]), ([1, 2, 3], [3, 3, 3]), ([], [])):
        with pytest.raises(SchemaError, match="finds no threshold"):
            ic.TopCoding(share=0.1).threshold(column(list(values), counts))
        with pytest.raises(SchemaError, match="finds no threshold"):
            ic.BottomCoding(share=0.1).threshold(column(list(values), counts))


def test_bands_are_the_nodes_of_the_hierarchy() -> None:
    tens = ic.Intervals(widths=(10, 50))
    values = [-3, 0, 9, 10, 55]
    for level, width in ((1, 10), (2, 50)):
        naive = [f"[{value // width * width}, {value // width * width + width})" for value in values]
        assert changed(ic.Banding(level), list(values), hierarchy=tens) == naive
    tree = ic.Categories.from_tree({"infection": ["flu", "HIV"], "other": ["gout"]})
    assert changed(ic.Banding(1), ["HIV", "flu", "gout"], hierarchy=tree) == ["infection", "infection", "other"]
    with pytest.raises(SchemaError, match="has 2 levels, and banding asks for level 3"):
        changed(ic.Banding(3), ["flu"], hierarchy=tree)
    with pytest.raises(SchemaError, match="made from the data"):
        changed(ic.Banding(1), [1, 2, 3], hierarchy=ic.Automatic())


def test_names_are_no_numbers() -> None:
    for change in (ic.Rounding(10), ic.TopCoding(3), ic.BottomCoding(3)):
        with pytest.raises(SchemaError, match="is for numbers, and not all of its values are"):
            changed(change, ["12", "a"])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ic.Rounding(0), "to is a number above 0"),
        (lambda: ic.Rounding(float("nan")), "to is a number above 0"),
        (lambda: ic.TopCoding(), "needs either above or share"),
        (lambda: ic.TopCoding(1, share=0.1), "needs either above or share"),
        (lambda: ic.BottomCoding(share=1.0), "share is above 0 and below 1"),
        (lambda: ic.TopCoding(1, shown="median"), "shown is"),
        (lambda: ic.Banding(0), "level is a whole number of at least 1"),
        (lambda: ic.PRAM(), "needs either keep or matrix"),
        (lambda: ic.PRAM(1.2), "keep is a probability"),
        (lambda: ic.PRAM(matrix={"a": {"a": 0.5}}), "add up to 1"),
        (lambda: ic.PRAM(0.0, invariant=True), "nothing is left"),
        (lambda: ic.RankSwapping(0.0), "within is above 0 and at most 1"),
        (lambda: ic.Noise(), "needs either sd or relative"),
        (lambda: ic.Noise(-1.0), "sd is a number above 0"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(make: object, said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        make()  # type: ignore[operator]

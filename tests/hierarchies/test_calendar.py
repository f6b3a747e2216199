"""Ranges of dates are written as years and months where both bounds begin one, and read back as the days they were."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.hierarchies.calendar import days_of, range_of_days
from incrowd.hierarchies.dates import Dates
from incrowd.hierarchies.meaning import label_masks
from incrowd.hierarchies.naming import label_runs
from incrowd.hierarchies.tree import Tree


def tree_of(days: list[date] | list[datetime]) -> Tree:
    return Dates().build("born", pl.Series(days))[0]


def runs_of(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    pairs = [(low, high) for low in range(1, tree.size) for high in range(low + 1, tree.size + 1)]
    return np.array([low for low, _ in pairs], np.int32), np.array([high for _, high in pairs], np.int32)


@pytest.mark.parametrize(
    ("days", "written"),
    [
        ([date(1905, 3, 4), date(1913, 1, 1), date(1917, 5, 5), date(1925, 6, 6)], "[1910, 1920)"),
        ([date(1909, 12, 31), date(1910, 2, 3), date(1910, 3, 4), date(1910, 4, 17)], "[1910-01, 1910-04)"),
        ([date(1909, 12, 31), date(1910, 2, 3), date(1910, 2, 4), date(1910, 2, 17)], "[1910-01-01, 1910-02-17)"),
        (
            [datetime(1905, 3, 4), datetime(1913, 1, 1, 7), datetime(1917, 5, 5), datetime(1925, 6, 6, 7)],
            "[1910, 1920)",
        ),
    ],
)
def test_both_bounds_are_of_one_unit(days: list[date], written: str) -> None:
    tree = tree_of(days)
    assert label_runs(tree, np.array([2], np.int32), np.array([4], np.int32)).to_list() == [written]


def test_open_ends_and_tight_labels() -> None:
    tree = tree_of([date(1905, 3, 4), date(1913, 1, 1), date(1925, 1, 1)])
    lows, highs = np.array([1, 2], np.int32), np.array([2, 4], np.int32)
    assert label_runs(tree, lows, highs).to_list() == ["1905-03-04", ">=1910"]
    # Both ends belong to a tight range, and so are days.
    assert label_runs(tree, lows, highs, shown="tight").to_list() == ["1905-03-04", "[1913-01-01, 1925-01-01]"]


moments = st.one_of(
    st.dates(date(1900, 1, 1), date(1903, 12, 31)),
    st.dates(date(1899, 1, 1), date(2001, 12, 31)).map(lambda day: day.replace(day=1)),
    st.dates(date(1899, 1, 1), date(2001, 12, 31)).map(lambda day: day.replace(day=1, month=1)),
)


@settings(max_examples=8, deadline=None)
@given(days=st.lists(moments, min_size=2, max_size=7, unique=True), times=st.booleans())
def test_every_range_reads_back_as_what_it_was_written_from(days: list[date], times: bool) -> None:
    values = [datetime(day.year, day.month, day.day, place % 24) for place, day in enumerate(days)] if times else days
    tree = tree_of(values)
    lows, highs = runs_of(tree)
    for ours in (True, False):
        masks = label_masks("born", tree, label_runs(tree, lows, highs), ours=ours)
        codes = np.arange(tree.size)
        known = (codes >= lows[:, None]) & (codes < highs[:, None])
        whole = (lows == 1) & (highs == tree.size) & (highs - lows > 1)  # `*` may also be missing
        known[whole, 0] = True
        assert (masks == known).all()


@settings(max_examples=10, deadline=None)
@given(first=st.dates(date(1, 1, 1), date(9998, 12, 31)), unit=st.sampled_from(["year", "month", "quarter", "decade"]))
def test_the_days_of_a_part_are_those_of_the_calendar(first: date, unit: str) -> None:
    name = {
        "year": f"{first.year:04}",
        "month": f"{first.year:04}-{first.month:02}",
        "quarter": f"{first.year:04}-Q{(first.month + 2) // 3}",
        "decade": f"{first.year // 10 * 10:04}s",
    }[unit]
    found = days_of(name)
    if found is None:
        assert name == "0000s"  # there is no year 0
        return
    low, after = date.fromisoformat(found[0]), date.max if found[1] is None else date.fromisoformat(found[1])
    assert low <= first < after or found[1] is None

    def part(day: date) -> tuple[int, ...]:
        return {
            "year": (day.year,),
            "month": (day.year, day.month),
            "quarter": (day.year, (day.month + 2) // 3),
            "decade": (day.year // 10,),
        }[unit]

    assert part(low) == part(first)
    assert found[1] is None or part(after - timedelta(days=1)) == part(first)
    assert found[1] is None or part(after) != part(first)
    assert low.toordinal() == 1 or part(low - timedelta(days=1)) != part(first)


def test_a_range_whose_last_year_belongs_to_it_holds_all_of_that_year() -> None:
    tree = tree_of([date(1909, 12, 31), date(1910, 1, 1), date(1920, 12, 31), date(1921, 1, 1)])
    for label in ("[1910, 1920]", "1910-1920", "1910 - 1920"):
        assert label_masks("born", tree, pl.Series([label]))[0].tolist() == [False, False, True, True, False]
    assert label_masks("born", tree, pl.Series(["1920-12"]))[0].tolist() == [False, False, False, True, False]
    assert range_of_days("9990", "9999", closed=True) == ("9990-01-01", "9999-12-31", True)

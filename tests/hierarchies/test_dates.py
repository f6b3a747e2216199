"""Dates: the calendar, before 1970 as after it."""

from __future__ import annotations

from datetime import date, datetime

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from incrowd.errors import HierarchyError, UncoveredValue
from incrowd.hierarchies.dates import UNITS, Dates
from tests.hierarchies.grown import CHECKED

days = st.lists(st.dates(date(1000, 1, 1), date(9999, 12, 31)), min_size=1, max_size=8, unique=True)
moments = st.lists(st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)), min_size=1, max_size=8, unique=True)


def calendar(day: date, unit: str) -> str:
    quarter = (day.month + 2) // 3
    return {
        "day": f"{day:%Y-%m-%d}",
        "month": f"{day.year}-{day.month:02}",
        "quarter": f"{day.year}-Q{quarter}",
        "year": str(day.year),
        "decade": f"{day.year - day.year % 10}s",
    }[unit]


@CHECKED
@given(
    days | moments,
    st.sets(st.sampled_from(UNITS), min_size=1).map(lambda chosen: tuple(sorted(chosen, key=UNITS.index))),
)
@example([date(1969, 12, 31), date(1970, 1, 1), date(1960, 1, 1), date(1959, 12, 31)], UNITS)
def test_every_date_is_in_its_month_quarter_year_and_decade(found: list, units: tuple[str, ...]) -> None:
    tree, codes = Dates(units=units).build("born", pl.Series(found))
    levels = [unit for unit in units if unit != "day" or isinstance(found[0], datetime)]
    assert tree.height == len(levels) + 1
    for value, code in zip(found, codes, strict=True):
        assert tree.values[int(code)] == value
        for unit, level, names in zip(levels, tree.nodes[1:], tree.names[1:], strict=False):
            assert names[int(level[code])] == calendar(value, unit)


def test_text_is_read_in_iso_form() -> None:
    tree, codes = Dates(units=("year",)).build("born", pl.Series(["1988-02-14", None, "1987-11-03"]))
    assert codes.tolist() == [2, 0, 1]
    assert tree.values.to_list() == [None, date(1987, 11, 3), date(1988, 2, 14)]
    moments, _ = Dates(units=("day",)).build("seen", pl.Series(["1988-02-14 10:30:00", "1988-02-14 11:00:00"]))
    assert moments.names[1].to_list() == [None, "1988-02-14"]


def test_positions_are_days() -> None:
    tree, _ = Dates().build("born", pl.Series([date(1970, 1, 1), date(1970, 1, 11), date(1969, 12, 22)]))
    assert tree.positions[1:].tolist() == [-10.0, 0.0, 10.0]


@pytest.mark.parametrize("dtype", [pl.String, pl.Date, pl.Datetime("ms")])
def test_a_column_without_values(dtype: pl.DataType) -> None:
    tree, codes = Dates().build("born", pl.Series([None, None], dtype=dtype))
    assert (tree.size, codes.tolist()) == (1, [0, 0])


def test_what_is_no_date_is_listed() -> None:
    with pytest.raises(UncoveredValue) as caught:
        Dates().build("born", pl.Series(["1988-02-14", "14.2.1988", "1988-02-30", None]))
    assert caught.value.values == ("14.2.1988", "1988-02-30")
    with pytest.raises(UncoveredValue, match="'born': 1 distinct value"):
        Dates().build("born", pl.Series([1988]))


@pytest.mark.parametrize(
    ("units", "message"),
    [
        ((), "units are some of"),
        (("week",), "unknown unit 'week'"),
        (("yaer",), "did you mean 'year'"),
        (("year", "month"), "from fine to coarse"),
        (("year", "year"), "from fine to coarse"),
    ],
)
def test_units_that_contradict_themselves(units: tuple[str, ...], message: str) -> None:
    with pytest.raises(HierarchyError, match=message):
        Dates(units=units)
